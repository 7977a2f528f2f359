"""Error messages for invalid files: position, key, problem, and the expected value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from roamcast.scenario.consistency import nearest

_WORDS = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "model_type": "should be a table",
    "model_attributes_type": "should be a table",
    "dict_type": "should be a table",
    "mapping_type": "should be a table",
    "list_type": "should be a list",
    "tuple_type": "should be a list",
    "named_tuple_type": "should be a table or a list",
    "string_type": "should be a string",
    "string_too_short": "should not be empty",
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "int_from_float": "should be a whole number",
    "int_parsing_size": "has too many digits",
    "float_type": "should be a number",
    "float_parsing": "should be a number",
    "finite_number": "should be a finite number",
    "path_type": "should be the name of a file",
    "union_tag_not_found": "has no kind",
}
"Messages that replace pydantic's, where those mention Python or pydantic."

_MOST_PROBLEMS = 8
"Further problems are counted but not printed."


def explain(
    error: ValidationError,
    kind: type[BaseModel],
    source: str,
    data: Mapping[str, Any],
    *,
    text: str = "",
    overridden: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a validation error as one line per key: position, key, problem and remedy.

    `data` is the validated data; `overridden` has the origin of keys that do not come from the file.
    """
    problems = error.errors(include_url=False)
    paths = [
        str(p["ctx"]["key"]).split(".") if "key" in p.get("ctx", {}) else _keys(p, data) for p in problems
    ]
    wrong: dict[tuple[str, str], dict[str, None]] = {}
    for problem, path in zip(problems, paths, strict=True):
        inner = any(len(other) > len(path) and other[: len(path)] == path for other in paths)
        if (
            not _is_scalar(problem["input"])
            and (inner or problem["type"] == "literal_error")
            and len(paths) > 1
        ):
            continue  # a table or list was given where a word would do; what is wrong inside it matters
        place = (source_of(source, text, path, overridden), ".".join(path))
        wrong.setdefault(place, {})[_message(problem, path, kind)] = None
    lines = [
        f"{where}: {shorten(key)}: {'; or '.join(messages)}" if key else f"{where}: {'; or '.join(messages)}"
        for (where, key), messages in wrong.items()
    ]
    more = len(lines) - _MOST_PROBLEMS
    return "\n".join(lines[:_MOST_PROBLEMS] + ([f"{source}: and {more} more"] if more > 0 else []))


def _message(problem: Any, path: list[str], kind: type[BaseModel]) -> str:
    what, context = problem["type"], problem.get("ctx", {})
    if what in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"unknown key; {nearest(path[-1] if path else '', _known_keys(kind, problem['loc'][:-1]))}"
    if what == "union_tag_invalid":
        known = [word.strip(" '") for word in str(context["expected_tags"]).split(",")]
        return f"{context['tag']!r} is none of the kinds; {nearest(str(context['tag']), known)}"
    if what == "too_short":
        least = context["min_length"]
        return "should not be empty" if least == 1 else f"should have at least {least} entries"
    if what == "too_long":
        return f"should have at most {context['max_length']} entries"
    text: str = _WORDS.get(what, problem["msg"].removeprefix("Value error, "))
    text = text.replace("Input should", "should")
    if what in ("missing", "missing_argument", "value_error", "disagreement"):
        return text
    return f"{text}, not {shorten(repr(problem['input']))}" if _is_scalar(problem["input"]) else text


def shorten(text: str) -> str:
    """Return the text, shortened to fit into a message."""
    return text if len(text) <= 80 else f"{text[:76]} ..."


def source_of(source: str, text: str, path: list[str], overridden: Mapping[str, str]) -> str:
    """Return the origin of the key at `path`: an override, or a line of the file."""
    key = ".".join(path)
    for known, origin in overridden.items():
        if key == known or key.startswith(f"{known}.") or known.startswith(f"{key}."):
            return origin
    line = line_of(text, path)
    return f"{source}:{line}" if line else source


DEEPEST = 64
"Keys within more tables than this are found by their first 64 tables."
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]")
_PAIR = re.compile(r"\s*([\w.\"'-]+)\s*=")


def line_of(text: str, path: list[str], *, exact: bool = False) -> int | None:
    """Return the line of `text` (TOML) that sets the key at `path` or, unless `exact`, its enclosing
    table.
    """
    within, equal = _lines_of_keys(text)
    wanted = tuple(path)
    if wanted in within:
        return within[wanted]
    if exact:
        return None
    enclosing = (wanted[:length] for length in range(len(wanted) - 1, -1, -1))
    return next((equal[keys] for keys in enclosing if keys in equal), None)


@lru_cache(maxsize=16)
def _lines_of_keys(text: str) -> tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]]:
    """Return the first line within each table or key of `text` (TOML), and the first line that sets it."""
    within: dict[tuple[str, ...], int] = {}
    equal: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            keys = table = tuple(part.strip(" \"'") for part in header[1].split("."))
        elif pair := _PAIR.match(line):
            keys = table + tuple(part.strip("\"'") for part in pair[1].split("."))
        else:
            continue
        equal.setdefault(keys, number)
        for length in range(min(len(keys), DEEPEST) + 1):
            within.setdefault(keys[:length], number)
    return within, equal


def _keys(problem: Any, data: Any) -> list[str]:
    """Return the keys of a pydantic location, without the names of models and unions that pydantic adds."""
    found: list[str] = []
    here = data
    loc = problem["loc"]
    for i, part in enumerate(loc):
        inner = _step(here, part)
        if inner is not _ABSENT:
            here = inner
            found += str(part).split(".")
        elif i == len(loc) - 1 and problem["type"] in ("missing", "missing_argument"):
            found.append(str(part))
    if problem["type"] == "union_tag_invalid":
        found.append(str(problem["ctx"]["discriminator"]).strip("'"))
    return found


_ABSENT = object()


def _step(here: Any, part: int | str) -> Any:
    """Return the value at a key, which may be dotted, or `_ABSENT`."""
    if isinstance(here, list):
        return here[part] if isinstance(part, int) and part < len(here) else _ABSENT
    if not isinstance(here, Mapping):
        return _ABSENT
    if part in here:
        return here[part]
    first, dot, rest = str(part).partition(".")
    while dot:
        if first in here:
            return _step(here[first], rest)
        more, dot, rest = rest.partition(".")
        first = f"{first}.{more}"
    return _ABSENT


def _known_keys(kind: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the model at `loc` below `kind`."""
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
    """Yield the models and named tuples that an annotation contains."""
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or hasattr(annotation, "_fields")):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))
