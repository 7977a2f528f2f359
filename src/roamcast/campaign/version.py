"""The version of what decides a run's facts: the package's, and a digest of the code itself."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import roamcast

DECIDING = ("content", "wire", "routing", "sim", "scenario", "facts")
"The rooms whose code decides what happens in a run."


@cache
def code_version() -> str:
    """As `0.1.0+1f2e3d4c`: it changes with the code that decides results, so no stale run is reused."""
    digest = hashlib.blake2b(digest_size=4)
    root = Path(roamcast.__file__).parent
    files = [root / "units.py", *(file for room in DECIDING for file in (root / room).rglob("*.py"))]
    for file in sorted(files):
        digest.update(str(file.relative_to(root)).encode())
        digest.update(file.read_bytes())
    for library in sorted(_kernel()):
        digest.update(library.read_bytes())
    return f"{roamcast.__version__}+{digest.hexdigest()}"


def _kernel() -> list[Path]:
    """The compiled kernel's file, which an editable install keeps away from the sources."""
    from importlib.util import find_spec

    found = find_spec("roamcast._kernel")
    return [Path(found.origin)] if found and found.origin else []
