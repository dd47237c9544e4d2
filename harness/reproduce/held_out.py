"""Test images: points that no method is trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gammabar.problems import ProblemError
from gammabar.problems.containers import read_idx
from gammabar.problems.datasets import DATASETS, find, how_to_get


def held_out_images(name: str, classes: tuple[int, int]) -> tuple[Any, Any]:
    """Test images of two classes of MNIST or Fashion-MNIST, and labels −1 and +1.

    The training images are checked against their sums wherever they are read; the test images
    only have to be there.
    """
    dataset = DATASETS[name]
    paths = find(dataset)
    if paths is None:
        raise ProblemError(f"{name} is not on this machine: {how_to_get(dataset)}")
    folder = paths[0].parent
    files = [next(folder.glob(f"t10k-{kind}*"), None) for kind in ("images", "labels")]
    if None in files:
        raise ProblemError(f"{folder}: the test images are missing ({how_to_get(dataset)})")
    images, labels = (read_idx(file) for file in files if file is not None)
    chosen = np.isin(labels, classes)
    y = np.where(labels[chosen] == classes[1], 1, -1)
    return images[chosen].reshape(int(chosen.sum()), -1), y
