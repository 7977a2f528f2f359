"""Tokens of the subscription language, with their position in the text."""

from __future__ import annotations

import re
from typing import NamedTuple

from roamcast.content.errors import FilterError
from roamcast.content.schema import NAME

MAX_TEXT = 1 << 16

_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n]+)
    |(?P<string>"[^"]*"|'[^']*')
    |(?P<exponent>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9])
    |(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)
    |(?P<name>{NAME})
    |(?P<sign>//|::|!=|<=|>=|\.\.|[/\[\]()@=<>|,.*\-+$:])""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A token: string, number, name, sign, or end."""

    sort: str
    text: str
    position: int


def tokenize(text: str) -> list[Token]:
    """Return the tokens of `text`, followed by an end token."""
    if len(text) > MAX_TEXT:
        raise FilterError(
            f"the subscription has {len(text)} characters; the maximum is {MAX_TEXT}", text, MAX_TEXT
        )
    tokens = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            if text[at] in "\"'":
                raise FilterError("the string is not closed", text, at)
            raise FilterError(f"{text[at]!r} is not a valid character here", text, at)
        if found.lastgroup == "exponent":
            raise FilterError("numbers in XPath have no exponent; write all digits", text, at)
        if found.lastgroup != "space":
            tokens.append(Token(found.lastgroup or "", found.group(), at))
        at = found.end()
    tokens.append(Token("end", "", len(text)))
    return tokens
