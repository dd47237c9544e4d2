"""Test images: points that no method is trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.problems.datasets import DATASETS, read


def held_out_images(name: str, classes: tuple[int, int]) -> tuple[Any, Any]:
    """Images of two classes of a data set of test images, and labels −1 and +1."""
    points = read(DATASETS[name])
    chosen = np.isin(points.labels, classes)
    y = np.where(points.labels[chosen] == classes[1], 1, -1)
    return np.asarray(points.X)[chosen], y
