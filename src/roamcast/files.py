"""Reading of files that users write: with a size limit, in UTF-8 with or without a byte-order mark."""

from __future__ import annotations

import re
from pathlib import Path

from roamcast.errors import UserError

MOST_TEXT = 4_000_000
"Maximum size of a scenario or campaign file [B]."

MOST_TRACE = 1_000_000_000
"Maximum size of a movement file or a schedule [B]."

DEEPEST = 32
"Maximum number of parts of a dotted key."

_LONGEST_NAME = 100
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_BETWEEN = re.compile(r"[\[\]{}=,#]")


class FileError(UserError):
    """A file cannot be read, or is not what was expected."""


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a file of at most `most` bytes, without a byte-order mark."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # not a valid name of a file
        raise FileError(f"{path}: {error}") from None
    if len(content) > most:
        raise FileError(f"{path}: longer than {most:,} bytes, the maximum for this kind of file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start})") from None


def safe_name(text: str) -> str:
    """Return `name` as a name of a file or folder: without separators and leading dots."""
    return _UNSAFE.sub("-", text)[:_LONGEST_NAME].strip().lstrip(".") or "unnamed"


def check_depth(path: Path, text: str) -> None:
    """Raise FileError for a key of more than `DEEPEST` parts, on which the TOML reader takes minutes."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > DEEPEST:
            for piece in _BETWEEN.split(_STRING.sub("x", line)):
                if piece.count(".") > DEEPEST:
                    raise FileError(
                        f"{path}:{number}: a key has {piece.count('.') + 1} parts, expected at most {DEEPEST}"
                    )
