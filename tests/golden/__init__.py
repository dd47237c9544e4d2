"""The verdicts of the default plan, compared with frozen ones: ``python -m tests.golden``.

``plan.csv`` holds every result of the plan at commit 4aaf0d4, inapplicable ones included, computed
with embedded data. ``intended.txt`` lists each difference that was intended, with its reason.
``--source jst`` and ``--statement ID`` compare a part.
"""
