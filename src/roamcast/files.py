"""Files of people: read no further than a file of its kind can be long, and in any spelling of UTF-8."""

from __future__ import annotations

import re
from pathlib import Path

from roamcast.errors import UserError

MOST_TEXT = 4_000_000
"Bytes of a scenario or a campaign."

MOST_TRACE = 1_000_000_000
"Bytes of a movement file or a schedule."

DEEPEST = 32
"Parts of a dotted key."

_LONGEST_NAME = 100
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_BETWEEN = re.compile(r"[\[\]{}=,#]")


class FileError(UserError):
    """A file that cannot be read as what it should be."""


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """The text of a file of at most `most` bytes, without a byte-order mark."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise FileError(f"{path}: {error}") from None
    if len(content) > most:
        raise FileError(f"{path}: longer than {most:,} bytes, so not what it should be")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start})") from None


def safe_name(text: str) -> str:
    """A name from a file's content as the name of a file or folder: without separators and leading dots."""
    return _UNSAFE.sub("-", text)[:_LONGEST_NAME].strip().lstrip(".") or "unnamed"


def check_depth(path: Path, text: str) -> None:
    """Refuse a key of very many parts, before the reader of TOML takes minutes over it."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > DEEPEST:
            for piece in _BETWEEN.split(_STRING.sub("x", line)):
                if piece.count(".") > DEEPEST:
                    raise FileError(
                        f"{path}:{number}: a key of {piece.count('.') + 1} parts is no key of ours"
                    )
