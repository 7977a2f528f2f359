"""Plain data as the text of a TOML file: one table per section, small tables inline."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_WIDTH = 100
"Maximum length of an inline table or list; a longer list has one entry per line."


def write_toml(data: dict[str, Any]) -> str:
    """Return `data` as TOML."""
    return "\n".join(_table(data, ())).strip() + "\n"


def _table(data: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table: its values, then its sections."""
    sections = {key: value for key, value in data.items() if isinstance(value, dict) and not _inline(value)}
    values = {key: value for key, value in data.items() if key not in sections}
    if path and values:
        yield ""
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in values.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in sections.items():
        yield from _table(value, (*path, key))


def _inline(value: dict[str, Any]) -> bool:
    """Return whether a table is written in one line: no table in it, or one that fits."""
    flat = not any(isinstance(each, dict) for each in value.values())
    return flat and len(value) <= 2 and len(_value(value)) <= _WIDTH and "count" not in value


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        line = f"[{', '.join(map(_value, value))}]"
        if len(line) <= _WIDTH:
            return line
        return "[\n" + "".join(f"    {_value(each)},\n" for each in value) + "]"
    return _text(value)


def _text(value: Any) -> str:
    """Return a string, number or boolean; JSON and TOML differ in the character DEL only."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
