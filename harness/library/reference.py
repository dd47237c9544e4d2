"""References to papers of users, which travel to other processes and machines."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from gammabar.harness.library.loading import read_files


@dataclass(frozen=True)
class PaperRef:
    """A paper of the user, as plans, workers and stores know it: its path and its files.

    Attributes
    ----------
    path : str
        As the user wrote it: "my_paper.py", or a folder.
    files : tuple of (str, str)
        Relative names and texts of its Python files, so that it can be opened elsewhere.
    """

    path: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: str) -> PaperRef:
        """The paper in a file or folder."""
        return cls(path, read_files(path))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PaperRef:
        """From JSON."""
        return cls(values["path"], tuple((name, text) for name, text in values["files"]))

    def digest(self) -> str:
        """Hash of its contents."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()
