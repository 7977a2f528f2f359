"""The folder that a studio works in: scenarios of the user and of Roamcast, and results of comparisons.

A name in a request is looked up in a list of what was found, and never joined to a path, so that no name
leads out of the folder.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from roamcast.errors import UserError
from roamcast.files import FileError, check_depth, read_text
from roamcast.scenario.read import ScenarioError, load
from roamcast.scenario.shipped import shipped

_DEEPEST = 3
"Levels of folders below the studio's folder in which files are looked for."

_MOST_FILES = 500
_SKIPPED = frozenset({"node_modules", "facts", "staged", "tables", "figures", "replays", "watch", "run"})
_NAME = re.compile(r"[^\W_][\w .+-]{0,79}")

SHIPPED, LOCAL = "shipped", "local"
FIRST = "shopping"
"The shipped scenario of the first steps, which a gallery shows first."


class WorldFile(NamedTuple):
    """A scenario file: its id in addresses, where it is, and whether it may be changed."""

    id: str
    file: Path
    local: bool

    @property
    def argument(self) -> str:
        """How a command line names the scenario, in the studio's folder."""
        return self.id.partition("/")[2]


class Workspace:
    """One folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            raise UserError(f"{folder}: not a folder; expected one for scenarios and results")

    def worlds(self) -> list[WorldFile]:
        """Return the scenarios: those of the folder, then the shipped ones."""
        own = [WorldFile(f"{LOCAL}/{name}", file, True) for name, file in self._tomls() if _is_scenario(file)]
        ours = [WorldFile(f"{SHIPPED}/{name}", file, False) for name, file in shipped("scenarios").items()]
        return own + sorted(ours, key=lambda world: world.argument != FIRST)

    def find_world(self, id: str) -> WorldFile:
        """Return the scenario with an id."""
        found = next((world for world in self.worlds() if world.id == id), None)
        if found is None:
            raise UserError(f"no scenario {id[:100]!r} here")
        return found

    def node_files(self) -> list[tuple[str, Path]]:
        """Return name and path of the configurations of live nodes."""
        return [(name, file) for name, file in self._tomls() if _has_keys(file, {"control"})]

    def results(self) -> dict[str, Path]:
        """Return the folders of campaigns by their path below this folder, newest first."""
        found = [
            (place.stat().st_mtime, place.parent)
            for place in self._walk(lambda name: name == "campaign.json")
        ]
        ordered = sorted(found, key=lambda each: (-each[0], str(each[1])))
        return {str(folder.relative_to(self.folder)): folder for _, folder in ordered}

    def find_result(self, id: str) -> Path:
        """Return the folder of a result."""
        found = self.results().get(id)
        if found is None:
            raise UserError(f"no result {id[:100]!r} here")
        return found

    def new_file(self, name: str) -> Path:
        """Return the path of a new scenario file; refuse names that are not plain or taken."""
        file = self.folder / f"{self.check_name(name)}.toml"
        if file.exists() or file.is_symlink():
            raise UserError(f"{file.name}: exists already; choose another name")
        return file

    @staticmethod
    def check_name(name: str) -> str:
        """Return a name of a file without its suffix, or raise UserError."""
        plain = name.strip().removesuffix(".toml")
        if not _NAME.fullmatch(plain):
            raise UserError(
                f"{name[:60]!r} is not a name of a file; expected letters, digits, space, - _ . +"
            )
        return plain

    def save(self, file: Path, text: str) -> None:
        """Write a scenario file of this folder; the old content stays if that fails."""
        if file.is_symlink() or not file.resolve().is_relative_to(self.folder):
            raise UserError(f"{file.name}: lies outside the folder of the studio")
        spare = file.with_name(f".{file.name}.{os.getpid()}.new")
        try:
            spare.write_text(text, encoding="utf-8")
            spare.replace(file)
        except OSError as error:
            spare.unlink(missing_ok=True)
            raise UserError(f"{file.name}: cannot be written: {error.strerror}") from None

    def copy_named_files(self, world: WorldFile) -> None:
        """Copy the files that a shipped scenario names beside its copy; keep those that are there."""
        try:
            scenario = load(world.file)
        except ScenarioError:
            return
        documents = (each.content for each in scenario.workload.publish.values())
        named = [*scenario.workload.schemas, *(f for d in documents for f in getattr(d, "documents", []))]
        named += [file for file in (scenario.workload.schedule,) if file]
        named += [scenario.mobility.ns2] if scenario.mobility else []
        for file in named:
            target = self.folder / file.resolve().relative_to(world.file.parent.resolve())
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)

    def _tomls(self) -> Iterator[tuple[str, Path]]:
        for file in self._walk(lambda name: name.endswith(".toml")):
            yield str(file.relative_to(self.folder)), file

    def _walk(self, wanted: Callable[[str], bool]) -> Iterator[Path]:
        """Yield files below the folder whose name is `wanted`; hidden folders and links are left out."""
        count = 0
        for root, folders, files in os.walk(self.folder):
            depth = len(Path(root).relative_to(self.folder).parts)
            folders[:] = sorted(
                name
                for name in folders
                if depth < _DEEPEST and not name.startswith((".", "run=")) and name not in _SKIPPED
            )
            for name in sorted(files):
                file = Path(root, name)
                if wanted(name) and not name.startswith(".") and not file.is_symlink():
                    count += 1
                    if count > _MOST_FILES:
                        return
                    yield file


def _is_scenario(file: Path) -> bool:
    """Return whether a TOML file looks like a scenario; a damaged one does, so that it can be mended."""
    try:
        return {"area", "nodes"} <= _keys(file) and "sweeps" not in _keys(file)
    except tomllib.TOMLDecodeError:
        return file.stat().st_size < 1_000_000
    except (UserError, RecursionError):
        return False


def _has_keys(file: Path, keys: set[str]) -> bool:
    try:
        return keys <= _keys(file)
    except (UserError, ValueError, RecursionError):
        return False


def _keys(file: Path) -> set[str]:
    try:
        text = read_text(file)
        check_depth(file, text)
    except FileError as error:
        raise UserError(str(error)) from None
    return set(tomllib.loads(text))
