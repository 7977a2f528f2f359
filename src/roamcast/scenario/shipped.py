"""Files that are shipped with roamcast, found by name in a checkout or an installed wheel."""

from __future__ import annotations

from pathlib import Path

from roamcast.scenario.consistency import nearest
from roamcast.scenario.read import ScenarioError

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "shipped", _PACKAGE.parents[1])


def shipped(kind: str) -> dict[str, Path]:
    """Return the shipped files of one kind ("scenarios", "campaigns"), by name."""
    for folder in _FOLDERS:
        if (folder / kind).is_dir():
            return {path.stem: path for path in sorted((folder / kind).glob("*.toml"))}
    return {}


def locate(name: str, kind: str = "scenarios") -> Path:
    """Return the file at the path `name`, or the shipped file of this name."""
    path = Path(name)
    if path.suffix or path.is_file() or len(path.parts) > 1:
        return path
    known = shipped(kind)
    if name not in known:
        one = kind.removesuffix("s")
        raise ScenarioError(
            f"{name}: no such file, and roamcast ships no {one} of this name; {nearest(name, known)}"
        )
    return known[name]
