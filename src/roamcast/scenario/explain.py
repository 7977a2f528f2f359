"""What is wrong with a file, in words: where, which key, what was expected, what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from roamcast.scenario.consistency import nearest

_WORDS = {
    "missing": "is missing",
    "model_type": "should be a table",
    "model_attributes_type": "should be a table",
    "dict_type": "should be a table",
    "list_type": "should be a list",
    "tuple_type": "should be a list",
    "named_tuple_type": "should be a table or a list",
    "string_type": "should be a string",
    "bool_type": "should be true or false",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
}
"Our words for pydantic's, where those speak of Python."

_UNION_MEMBER = re.compile(
    r"Template|literal\[.*|list\[.*|constrained-.*|float|function-.*|Speeds|Point|Moments"
)
"What pydantic puts into a location besides the keys of the file."


def explain(
    error: ValidationError, kind: type[BaseModel], source: str, text: str = "", overridden: Iterable[str] = ()
) -> str:
    """A validation error in one line for each key: where, which key, what is wrong, what to do."""
    overridden = set(overridden)
    problems = error.errors(include_url=False)
    wrong: dict[tuple[str, str], dict[str, None]] = {}
    for problem in problems:
        if problem["type"] == "literal_error" and not _is_scalar(problem["input"]) and len(problems) > 1:
            continue  # a table was given where a word would do as well; what is wrong with the table matters
        context = problem.get("ctx", {})
        path = str(context["key"]).split(".") if "key" in context else _keys(problem["loc"])
        place = (blame(source, text, path, overridden), ".".join(path))
        wrong.setdefault(place, {})[_message(problem, path, kind)] = None
    return "\n".join(
        f"{where}: {key}: {'; or '.join(messages)}" if key else f"{where}: {'; or '.join(messages)}"
        for (where, key), messages in wrong.items()
    )


def _message(problem: Any, path: list[str], kind: type[BaseModel]) -> str:
    if problem["type"] == "extra_forbidden":
        return f"unknown key; {nearest(path[-1], _known_keys(kind, problem['loc'][:-1]))}"
    told: str = _WORDS.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    told = told.replace("Input should", "should")
    if problem["type"] in ("missing", "value_error", "disagreement"):
        return told
    return f"{told}, not {problem['input']!r}" if _is_scalar(problem["input"]) else told


def blame(source: str, text: str, path: list[str], overridden: set[str]) -> str:
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
    return [str(part) for part in loc if not _UNION_MEMBER.fullmatch(str(part))]


def _known_keys(kind: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the model at `loc` below `kind`."""
    here: Any = kind
    for part in loc:
        for model in _models(here):
            fields = getattr(model, "model_fields", {})
            field = fields.get(str(part)) or next((f for f in fields.values() if f.alias == part), None)
            if field is not None:
                here = field.annotation
                break
    return [key for model in _models(here) for key in _keys_of(model)]


def _keys_of(model: Any) -> list[str]:
    if issubclass(model, BaseModel):
        return [field.alias or name for name, field in model.model_fields.items()]
    return list(model._fields)


def _models(annotation: Any) -> Iterator[Any]:
    """The models and named tuples that an annotation speaks of."""
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or hasattr(annotation, "_fields")):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))
