"""Reading of scenario files: TOML to an immutable `Scenario`, or an error with file, key and remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from roamcast.errors import UserError
from roamcast.files import DEEPEST, MOST_TRACE, FileError, check_depth, read_text
from roamcast.scenario.consistency import nearest
from roamcast.scenario.content import ContentProblem
from roamcast.scenario.explain import explain, shorten, source_of
from roamcast.scenario.model import Scenario
from roamcast.scenario.radio.buildings import invalid, read_buildings
from roamcast.scenario.radio.settings import Building, Radio
from roamcast.scenario.workload import Documents, Workload
from roamcast.units import FROM_FILE

M = TypeVar("M", bound=BaseModel)


class ScenarioError(UserError):
    """A file or an override that is not a valid scenario."""


def load(
    path: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    origin: Callable[[str], str] = lambda _: "--set",
    *,
    text: str | None = None,
) -> Scenario:
    """Return the scenario in a file, with `overrides` ("radio.range=200 m", or key -> value) applied.

    An override cannot add a group of nodes. `origin` returns the origin of an override for messages. `text`
    replaces the content of the file.
    """
    path = Path(path)
    text, data = read_toml(path, text)
    groups = _groups(data)
    pairs = overrides.items() if isinstance(overrides, Mapping) else map(split_override, overrides)
    overridden: dict[str, str] = {}
    for key, value in pairs:
        overridden[key] = origin(key)
        override(data, key, value, overridden[key])
        if new := _groups(data) - groups:
            hint = nearest(min(new), sorted(groups))
            raise ScenarioError(f"{overridden[key]}: {shorten(key)}: no group of nodes has this name; {hint}")
    scenario = _resolve(validate(Scenario, data, str(path), text, overridden), path)
    try:
        _ = scenario.content  # checked here, and cached for later use
    except ContentProblem as error:
        where = source_of(str(path), text, error.key.split("."), overridden)
        raise ScenarioError(f"{where}: {error}") from None
    return scenario


def _groups(data: Mapping[str, Any]) -> set[str]:
    nodes = data.get("nodes")
    return set(nodes) if isinstance(nodes, Mapping) else set()


def read_toml(path: Path, text: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and its data; a `text` that is given replaces the file's."""
    try:
        text = read_text(path) if text is None else text
        check_depth(path, text)
        return text, tomllib.loads(text)
    except FileError as error:
        raise ScenarioError(str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise ScenarioError(f"{path}: not valid TOML: nested too deeply") from None


def split_override(text: str) -> tuple[str, Any]:
    """Split "key=value"; the value is parsed as TOML if possible, otherwise it is a string."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f'--set {shorten(repr(text))}: write it as key=value, like radio.range="200 m"')
    if text.count(".") > DEEPEST and key.count(".") > DEEPEST:
        raise ScenarioError(
            f"--set {shorten(key)}: a key of {key.count('.') + 1} parts is not a scenario key"
        )
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = value.strip()
    return key.strip(), parsed


def override(data: dict[str, Any], key: str, value: Any, origin: str = "--set") -> str:
    """Set `value` at the dotted `key` in `data`; return the key."""
    *path, last = key.split(".")
    here: Any = data
    for depth, name in enumerate(path):
        here = here.setdefault(name, {})
        if not isinstance(here, dict):
            where = ".".join(path[: depth + 1])
            raise ScenarioError(f"{origin} {shorten(key)}: {where} is a value and has no keys")
    here[last] = value
    return key


def validate(
    kind: type[M],
    data: Mapping[str, Any],
    source: str,
    text: str = "",
    overridden: Mapping[str, str] = MappingProxyType({}),
) -> M:
    """Return `data` as a `kind`, or raise an error with `source`, line, key and the closest valid key."""
    try:
        return kind.model_validate(data, context=FROM_FILE)
    except ValidationError as error:
        raise ScenarioError(explain(error, kind, source, data, text=text, overridden=overridden)) from None


def _resolve(scenario: Scenario, path: Path) -> Scenario:
    """Resolve the files that the scenario names relative to the scenario's folder."""
    changes: dict[str, Any] = {}
    if scenario.mobility is not None:
        ns2 = _existing(path, scenario.mobility.ns2, "mobility.ns2")
        changes["mobility"] = scenario.mobility.model_copy(update={"ns2": ns2})
    if workload := _resolve_workload(scenario.workload, path):
        changes["workload"] = scenario.workload.model_copy(update=workload)
    if any(building.file is not None for building in scenario.radio.obstacles):
        changes["radio"] = scenario.radio.model_copy(update={"obstacles": _buildings(scenario.radio, path)})
    return scenario.model_copy(update=changes) if changes else scenario


def _buildings(radio: Radio, path: Path) -> tuple[Building, ...]:
    """Return the obstacles with the polygons of files in place of the files."""
    found: list[Building] = []
    for building in radio.obstacles:
        if building.file is None:
            found.append(building)
        else:
            found += read_buildings(_existing(path, building.file, "radio.obstacles.file"), building)
    for building in found:
        if problem := invalid(building):
            raise ScenarioError(f"{path}: radio.obstacles: a polygon is not valid: {problem}")
    return tuple(found)


def _resolve_workload(workload: Workload, path: Path) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if workload.schedule is not None:
        changes["schedule"] = _existing(path, workload.schedule, "workload.schedule")
    if workload.schemas:
        changes["schemas"] = [_existing(path, file, "workload.schema") for file in workload.schemas]
    publish = dict(workload.publish)
    for group, publishing in workload.publish.items():
        if isinstance(publishing.content, Documents):
            key = f"workload.publish.{group}.content.documents"
            found = [_existing(path, file, key) for file in publishing.content.documents]
            content = publishing.content.model_copy(update={"documents": found})
            publish[group] = publishing.model_copy(update={"content": content})
    return changes | ({"publish": publish} if publish != workload.publish else {})


def _existing(scenario_file: Path, named: Path, key: str) -> Path:
    found = scenario_file.parent / named
    if not found.is_file():
        what = "not a file" if found.exists() else "no such file"
        raise ScenarioError(f"{scenario_file}: {key}: {what}: {found}")
    if found.stat().st_size > MOST_TRACE:
        raise ScenarioError(f"{scenario_file}: {key}: {found} is longer than {MOST_TRACE:,} bytes")
    return found
