"""The maximum-margin classifier, exactly: a scikit-learn estimator around the oracle."""

from gammabar.harness.classifier.estimator import InseparableError, MaxMarginClassifier

__all__ = ["InseparableError", "MaxMarginClassifier"]
