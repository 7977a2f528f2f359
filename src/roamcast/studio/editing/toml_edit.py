"""Changes of single keys in the text of a TOML file; comments and the order of the rest stay.

A change is made in the text by the position of its line, and then checked: the new text must parse to the
old data with exactly this key changed. Text that this module cannot change is refused with a message.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from roamcast.errors import UserError

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_PAIR = re.compile(r"""(\s*)((?:"[^"]*"|'[^']*'|[\w.-])+)(\s*=\s*)""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class EditError(UserError):
    """A change that cannot be made in the text."""


def set_key(text: str, path: list[str], value: Any) -> str:
    """Return `text` with the key at `path` set to `value`; None removes it."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise EditError(f"the text is not valid TOML: {error}") from None
    wanted = _changed(data, path, value)
    for changed in _attempts(text, data, path, value):
        try:
            if tomllib.loads(changed) == wanted:
                return changed
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
    raise EditError(f"{'.'.join(path)}: cannot be changed by the form here; edit the text")


def _changed(data: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    wanted: dict[str, Any] = copy.deepcopy(data)
    here: Any = wanted
    for depth, name in enumerate(path[:-1]):
        here = here.setdefault(name, {})
        if not isinstance(here, dict):
            raise EditError(f"{'.'.join(path[: depth + 1])}: is a value and has no keys")
    if value is None:
        here.pop(path[-1], None)
    else:
        here[path[-1]] = value
    return wanted


def _attempts(text: str, data: dict[str, Any], path: list[str], value: Any) -> Iterator[str]:
    """Yield candidates: the line changed, the enclosing inline table changed, a line or a table added."""
    lines = text.splitlines()
    for cut in range(len(path), 0, -1):
        inner = value if cut == len(path) else _inner(data, path, cut, value)
        span = _find(lines, path[:cut])
        if span is not None:
            yield _replace(lines, span, inner)
    if value is None:
        yield text
        return
    table = path[:-1]
    row = f"{_key(path[-1])} = {to_toml(value)}"
    place = _end_of_table(lines, table)
    if place is not None:
        yield _join([*lines[:place], row, *lines[place:]])
    if table:
        yield _join([*lines, "", f"[{'.'.join(map(_key, table))}]", row])


def _inner(data: dict[str, Any], path: list[str], cut: int, value: Any) -> Any:
    """Return the value at `path[:cut]` after the change."""
    here: Any = _changed(data, path, value)
    for name in path[:cut]:
        here = here.get(name, {}) if isinstance(here, dict) else {}
    return here


def _find(lines: list[str], path: list[str]) -> tuple[int, int] | None:
    """Return first and last line (exclusive) of the pair that sets `path`."""
    table: list[str] = []
    for number, line in enumerate(lines):
        if header := _HEADER.match(line):
            table = _split(header[1])
        elif (pair := _PAIR.match(line)) and [*table, *_split(pair[2])] == path:
            for end in range(number + 1, min(len(lines), number + 2000) + 1):
                try:
                    tomllib.loads("\n".join(lines[number:end]))
                    return number, end
                except tomllib.TOMLDecodeError:
                    continue
    return None


def _replace(lines: list[str], span: tuple[int, int], value: Any) -> str:
    first, last = span
    if value is None:
        return _join([*lines[:first], *lines[last:]])
    pair = _PAIR.match(lines[first])
    assert pair is not None
    comment = _comment(lines[last - 1])
    return _join([*lines[:first], f"{pair[0]}{to_toml(value)}{comment}", *lines[last:]])


def _comment(line: str) -> str:
    """Return the comment at the end of a line, with the blanks before it."""
    quoted = re.sub(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', lambda m: "x" * len(m[0]), line)
    place = quoted.find("#")
    if place < 0:
        return ""
    return line[len(line[:place].rstrip()) :]


def _end_of_table(lines: list[str], table: list[str]) -> int | None:
    """Return where a new key of a table goes: after its last line that is not blank."""
    here: list[str] = []
    place = 0 if not table else None
    for number, line in enumerate(lines):
        if header := _HEADER.match(line):
            here = _split(header[1])
        elif line.lstrip().startswith("[["):
            here = ["\0"]
        if here == table and line.strip():
            place = number + 1
    return place


def _split(dotted: str) -> list[str]:
    """Return the parts of a dotted key; dots within quotes do not separate."""
    parts = re.findall(r"""\s*("[^"]*"|'[^']*'|[^.]+)\s*(?:\.|$)""", dotted)
    return [part.strip().strip("\"'") for part in parts]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else to_toml(name)


def _join(lines: list[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def to_toml(value: Any) -> str:
    """Return a value as TOML in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(to_toml, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {to_toml(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise EditError(f"{value!r} is not a value of a scenario")
