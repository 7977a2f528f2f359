"""Reading scenario files: TOML in, a frozen Scenario out, or one error that names file, key and remedy."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from roamcast.errors import UserError
from roamcast.scenario.consistency import nearest
from roamcast.scenario.content import misunderstandings
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
    for key, problem in misunderstandings(scenario):
        where = _where(str(path), text, key.split("."), set(overridden))
        raise ScenarioError(f"{where}: {key}: {problem}")
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


def explain(
    error: ValidationError, kind: type[BaseModel], source: str, text: str = "", overridden: Iterable[str] = ()
) -> str:
    """A validation error in one line a problem: where, which key, what is wrong, what to do."""
    overridden = set(overridden)
    lines: dict[str, None] = {}
    for problem in error.errors(include_url=False):
        context = problem.get("ctx", {})
        path = str(context["key"]).split(".") if "key" in context else _keys(problem["loc"])
        key = ".".join(path)
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = f"unknown key; {nearest(path[-1], _known_keys(kind, problem['loc'][:-1]))}"
        elif problem["type"] == "missing":
            message = "is missing"
        elif "key" not in context and _is_scalar(problem["input"]) and repr(problem["input"]) not in message:
            message = f"{message[0].lower()}{message[1:]}, not {problem['input']!r}"
        where = _where(source, text, path, overridden)
        lines[f"{where}: {key}: {message}" if key else f"{where}: {message}"] = None
    return "\n".join(lines)


def _where(source: str, text: str, path: list[str], overridden: set[str]) -> str:
    """Whom to blame for the key at `path`: an override, or a line of the file."""
    key = ".".join(path)
    if any(key == o or key.startswith(f"{o}.") or o.startswith(f"{key}.") for o in overridden):
        return "--set"
    line = line_of(text, path)
    return f"{source}:{line}" if line else source


def line_of(text: str, path: list[str]) -> int | None:
    """The line of `text` (TOML) that sets the key at `path`, or the nearest table around it."""
    best: tuple[int, int] | None = None
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]", line):
            table = [part.strip(" \"'") for part in header[1].split(".")]
            keys = table
        elif pair := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            keys = table + [part.strip("\"'") for part in pair[1].split(".")]
        else:
            continue
        shared = min(len(keys), len(path))
        if keys[:shared] == path[:shared] and (best is None or shared > best[0]):
            best = (shared, number)
    return best[1] if best else None


def _keys(loc: tuple[int | str, ...]) -> list[str]:
    """The keys of a pydantic location, without the names of union members that pydantic puts in."""
    return [
        str(part)
        for part in loc
        if not re.fullmatch(
            r"Template|literal\[.*|list\[.*|constrained-.*|float|function-.*|Speeds|Point", str(part)
        )
    ]


def _known_keys(kind: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the model at `loc` below `kind`."""
    here: Any = kind
    for part in loc:
        models = list(_models(here))
        for model in models:
            field = model.model_fields.get(str(part)) or next(
                (f for f in model.model_fields.values() if f.alias == part), None
            )
            if field is not None:
                here = field.annotation
                break
    return [f.alias or name for model in _models(here) for name, f in model.model_fields.items()]


def _models(annotation: Any) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


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
