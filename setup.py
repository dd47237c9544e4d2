"""The packages of the distribution: `gammabar`, and five folders as `gammabar.problems`, ….

In a clone they are symbolic links in `gammabar/`. Git makes none on Windows by default
(`core.symlinks=false`) and leaves text files in their place; then the folders are mapped.
"""

from pathlib import Path

from setuptools import find_packages, setup

FOLDERS = ("problems", "oracle", "solvers", "harness", "papers")

if all(Path("gammabar", folder).is_dir() for folder in FOLDERS):
    # Naming the root makes the editable install a plain path entry. The import hook that setuptools
    # would install otherwise is asked last, and loses to any folder called `oracle` or `problems`
    # (tests/oracle is one) that happens to be on the path.
    setup(packages=find_packages(include=["gammabar*"]), package_dir={"": "."})
else:
    mapped = {f"gammabar.{folder}": folder for folder in FOLDERS}
    inner = [
        f"{name}.{package}" for name, folder in mapped.items() for package in find_packages(folder)
    ]
    setup(packages=["gammabar", *mapped, *inner], package_dir={"gammabar": "gammabar", **mapped})
