"""Which modules a file of tests imports, and what these import: read from the sources, run by nobody."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOTS = {"roamcast": Path("src"), "tests": Path()}
"Where packages of ours stand."


@cache
def imported(file: Path) -> frozenset[str]:
    """The names of all modules of ours that a file brings with it, those of its fixtures included."""
    todo = [file, *(folder / "conftest.py" for folder in file.parents if folder.parts)]
    seen: set[Path] = set()
    names: set[str] = set()
    while todo:
        path = todo.pop()
        if path in seen or not path.exists():
            continue
        seen.add(path)
        brought = _brought(path)
        names.update(brought)
        todo += brought.values()
    return frozenset(names)


@cache
def _brought(path: Path) -> dict[str, Path]:
    """The modules of ours that a file names, with the packages that they stand in."""
    found = {}
    for name in _names(path, ast.parse(path.read_text())):
        parts = name.split(".")
        for last in range(1, len(parts) + 1):
            if (file := _file(tuple(parts[:last]))) is not None:
                found[".".join(parts[:last])] = file
    return found


def _names(path: Path, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(path.parts[: len(path.parts) - node.level]) if node.level else ""
            module = ".".join(part for part in (above, node.module) if part)
            yield from (f"{module}.{each.name}" for each in node.names)


@cache
def _file(parts: tuple[str, ...]) -> Path | None:
    root = ROOTS.get(parts[0])
    if root is None:
        return None
    place = root.joinpath(*parts)
    here = [each for each in (place / "__init__.py", place.with_suffix(".py")) if each.exists()]
    return here[0] if here else None
