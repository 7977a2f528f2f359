"""The version of a run's code: the package's, a digest of what decides facts, and the router's provider."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

import roamcast
from roamcast.fingerprint import digest_files, find_kernel
from roamcast.routing import catalogue

DECIDING = ("content", "wire", "routing", "sim", "scenario", "facts")
"The subpackages whose code decides the facts of a run."


def code_version(router: str = "") -> str:
    """Return the version of the code that decides the facts of a run with `router`.

    It is `0.1.0+1f2e3d4c`; for a router of another distribution or of a file `0.1.0+1f2e3d4c.5a6b7c8d`, where
    the second digest covers that distribution or file. A change of either gives the run another id.
    """
    if (file := catalogue.file_of(router)) is not None:
        return f"{own_version()}.{file.digest}"
    provider = provider_version(router)
    return f"{own_version()}.{provider}" if provider else own_version()


@cache
def own_version() -> str:
    """Return the version of Roamcast's own code that decides facts, as `0.1.0+1f2e3d4c`."""
    root = Path(roamcast.__file__).parent
    found = [root / "units.py", *(file for each in DECIDING for file in (root / each).rglob("*.py"))]
    files = {str(file.relative_to(root)): file for file in found}
    return f"{roamcast.__version__}+{digest_files(files | find_kernel())}"


@cache
def provider_version(router: str) -> str:
    """Return the digest of the distribution that provides `router`; empty for Roamcast itself."""
    entry = catalogue.installed().get(router)
    if entry is None or entry.module.partition(".")[0] == "roamcast":
        return ""
    return digest_files(find_provider(entry))


def find_provider(entry: EntryPoint) -> dict[str, Path]:
    """Return the files that provide an entry point, by name: its distribution's, and its module's.

    An editable install lists no modules; they are those of its entry points, of `top_level.txt` and of the
    folders that its `.pth` files name. Metadata and compiled bytecode are left out, so that the same code
    installed in another way or place has the same names.
    """
    files = _find_module(entry.module)
    if entry.dist is None:
        return files
    modules = {each.module for each in entry.dist.entry_points}
    modules |= set((entry.dist.read_text("top_level.txt") or "").split())
    for listed in entry.dist.files or ():
        located = Path(str(listed.locate()))
        if listed.suffix == ".pth" and located.is_file():
            modules |= _find_linked(located)
        elif _is_code(listed.parts) and located.is_file():
            files[str(listed)] = located
    for module in modules:
        files |= _find_module(module)
    return files


def _is_code(parts: tuple[str, ...]) -> bool:
    """Return whether a listed file may contain code; scripts and finders contain paths of the machine."""
    inside = not parts[0].endswith((".dist-info", ".egg-info")) and parts[0] != ".."
    return inside and "__pycache__" not in parts and not (len(parts) == 1 and "editable" in parts[0])


def _find_linked(link: Path) -> set[str]:
    """Return the packages and modules in the folders that a `.pth` file names."""
    found: set[str] = set()
    for line in link.read_text().splitlines():
        folder = Path(line.strip())
        if line.strip() and not line.startswith("import") and folder.is_dir():
            found |= {file.parent.name for file in folder.glob("*/__init__.py")}
            found |= {file.stem for file in folder.glob("*.py")}
    return found


def _find_module(name: str) -> dict[str, Path]:
    """Return the files of a module's outermost package, or of a module without package, by name.

    The result is empty for modules of Python and Roamcast.
    """
    parts = name.split(".")
    if parts[0] == "roamcast" or parts[0] in sys.stdlib_module_names:
        return {}
    for depth in range(1, len(parts) + 1):
        outer = ".".join(parts[:depth])
        try:
            spec = find_spec(outer)
        except (ImportError, ValueError):
            return {}
        if spec is None:
            return {}
        if spec.has_location or depth == len(
            parts
        ):  # a namespace package has no location, because several distributions may share it
            return _files_of(outer.replace(".", "/"), spec)
    return {}


def _files_of(prefix: str, spec: ModuleSpec) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for folder in map(Path, spec.submodule_search_locations or ()):
        for file in folder.rglob("*"):
            inside = file.relative_to(folder)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
            if file.is_file() and not hidden:
                files[f"{prefix}/{inside.as_posix()}"] = file
    if not files and spec.origin and Path(spec.origin).is_file():
        files[str(Path(prefix).with_name(Path(spec.origin).name))] = Path(spec.origin)
    return files
