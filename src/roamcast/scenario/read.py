"""Reading scenario files: TOML in, a frozen Scenario out, or one error that names file, key and remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from roamcast.errors import UserError
from roamcast.scenario.content import Misunderstood
from roamcast.scenario.explain import blame, explain
from roamcast.scenario.model import Scenario
from roamcast.units import FROM_FILE

M = TypeVar("M", bound=BaseModel)


class ScenarioError(UserError):
    """A file or an override that does not describe a scenario."""


def load(path: str | Path, overrides: Iterable[str] | Mapping[str, Any] = ()) -> Scenario:
    """The scenario in the file at `path`, with `overrides` ("radio.range=200 m", or key -> value) applied."""
    path = Path(path)
    text, data = read_toml(path)
    pairs = overrides.items() if isinstance(overrides, Mapping) else map(split_override, overrides)
    overridden = [override(data, key, value) for key, value in pairs]
    scenario = _resolve(validate(Scenario, data, str(path), text, overridden), path)
    try:
        _ = scenario.content  # read and checked here, and kept for all who ask
    except Misunderstood as error:
        where = blame(str(path), text, error.key.split("."), set(overridden))
        raise ScenarioError(f"{where}: {error}") from None
    return scenario


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file, and what it says."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScenarioError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start})"
        ) from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ScenarioError(f"{path}: {error}") from None
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise ScenarioError(f"{path}: not valid TOML: nested too deeply") from None


def split_override(text: str) -> tuple[str, Any]:
    """Read "key=value": the value as TOML where it is TOML, else as a string."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f'--set {text!r}: write it as key=value, like radio.range="200 m"')
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = value.strip()
    return key.strip(), parsed


def override(data: dict[str, Any], key: str, value: Any) -> str:
    """Put `value` at the dotted `key` in `data`; give the key back."""
    *path, last = key.split(".")
    here: Any = data
    for depth, name in enumerate(path):
        here = here.setdefault(name, {})
        if not isinstance(here, dict):
            raise ScenarioError(f"--set {key}: {'.'.join(path[: depth + 1])} is a value and has no keys")
    here[last] = value
    return key


def validate(
    kind: type[M], data: Mapping[str, Any], source: str, text: str = "", overridden: Iterable[str] = ()
) -> M:
    """`data` as a `kind`, or an error that names `source`, line, key and the nearest right key."""
    try:
        return kind.model_validate(data, context=FROM_FILE)
    except ValidationError as error:
        raise ScenarioError(explain(error, kind, source, text, overridden)) from None


def _resolve(scenario: Scenario, path: Path) -> Scenario:
    """Look for the files that the scenario names in the scenario's own folder."""
    changes: dict[str, Any] = {}
    if scenario.mobility is not None:
        ns2 = _existing(path, scenario.mobility.ns2, "mobility.ns2")
        changes["mobility"] = scenario.mobility.model_copy(update={"ns2": ns2})
    if scenario.workload.schedule is not None:
        schedule = _existing(path, scenario.workload.schedule, "workload.schedule")
        changes["workload"] = scenario.workload.model_copy(update={"schedule": schedule})
    return scenario.model_copy(update=changes) if changes else scenario


def _existing(scenario_file: Path, named: Path, key: str) -> Path:
    found = scenario_file.parent / named
    if not found.is_file():
        raise ScenarioError(f"{scenario_file}: {key}: no such file: {found}")
    return found
