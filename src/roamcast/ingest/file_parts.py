"""Files in pieces: byte ranges that tasks read independently, line by line, in little memory.

A line belongs to the piece in which its first byte lies, so every line is read once however a file is cut.
"""

from __future__ import annotations

import glob
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

from roamcast.errors import UserError

MOST_LINE = 1 << 24
"Bytes of a line; what is longer is a bad line, whatever it holds. A node's whole walk may stand in one."

_AT_ONCE = 1 << 16


class IngestError(UserError):
    """A file that is not what it should be, or cannot be read."""


class FilePart(NamedTuple):
    """A part of a file, from a byte to the byte before `end`."""

    path: str
    start: int = 0
    end: int | None = None
    "None is the end of the file."


class BadLine(NamedTuple):
    """A line that could not be understood."""

    offset: int
    "Of its first byte in the file (unpacked, if it is packed)."
    why: str
    text: str
    "Its beginning."


def refuse_mostly_bad(path: str, good: int, bad: int, offset: int, why: str) -> None:
    """Refuse a file of which more lines are bad than good; `offset` and `why` are of its first bad line."""
    if bad > good:
        raise IngestError(
            f"{path}: {bad:,} of {good + bad:,} lines are not understood, so it is not what it should be; "
            f"the first, at {offset}: {why}"
        )


def find_files(paths: list[str]) -> list[str]:
    """The files that some paths name: files, folders of them, patterns with `*`, URLs that Arrow can open."""
    found: list[str] = []
    for path in paths:
        if "://" in path:
            found.append(path)
        elif Path(path).is_dir():
            found += sorted(
                str(each) for each in Path(path).iterdir() if each.is_file() and each.name[0] != "."
            )
        elif glob.has_magic(path) and not Path(path).exists():
            found += sorted(each for each in glob.glob(path) if Path(each).is_file())  # noqa: PTH207 - may be absolute
        else:
            found.append(path)
    if not found:
        raise IngestError(f"{', '.join(paths) or 'no path'}: no files to read")
    return found


@contextmanager
def open_binary(path: str) -> Iterator[IO[bytes]]:
    """A file's bytes, unpacked if its name ends in `.gz`."""
    try:
        with _open(path) as file:
            yield file
    except FileNotFoundError:
        raise IngestError(f"{path}: no such file") from None
    except (EOFError, zlib.error):
        raise IngestError(f"{path}: its packed content is damaged or ends too early") from None
    except OSError as error:
        raise IngestError(f"{path}: cannot be read: {error.strerror or error}") from None


def _open(path: str) -> IO[bytes]:
    try:
        if "://" in path:
            from pyarrow import fs

            system, inside = fs.FileSystem.from_uri(path)
            plain: IO[bytes] = io.BufferedReader(system.open_input_file(inside), _AT_ONCE)
        else:
            plain = Path(path).open("rb", _AT_ONCE)  # noqa: SIM115 - the caller closes it
    except ValueError as error:  # a URL of no kind that Arrow knows, a name that no file can have
        raise IngestError(f"{path}: {error}") from None
    return cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if path.endswith(".gz") else plain


def measure_size(path: str) -> int:
    """Bytes of a file as it is stored."""
    with open_binary(path) as file:
        raw = file.fileobj if isinstance(file, gzip.GzipFile) else file
        return int(raw.seek(0, io.SEEK_END))


def split(path: str, size: int, *, splittable: bool) -> list[FilePart]:
    """A file in pieces of about `size` bytes; in one if its format or packing cannot be entered halfway."""
    whole = measure_size(path)
    if not splittable or path.endswith(".gz") or whole <= size:
        return [FilePart(path)]
    return [FilePart(path, start, min(start + size, whole)) for start in range(0, whole, size)]


def read_lines(piece: FilePart, most: int = MOST_LINE) -> Iterator[tuple[int, str] | BadLine]:
    """The lines of a piece with their offsets, stripped; empty ones are left out."""
    with open_binary(piece.path) as file:
        offset = _enter(file, piece.start)
        while piece.end is None or offset < piece.end:
            line = file.readline(most + 1)
            if not line:
                return
            begun, offset = offset, offset + len(line)
            if len(line) > most and not line.endswith(b"\n"):
                offset += _skip(file)
                yield BadLine(
                    begun, f"a line of more than {most:,} bytes", shorten(line.decode(errors="replace"))
                )
                continue
            try:
                text = line.decode("utf-8-sig" if begun == 0 else "utf-8").strip()
            except UnicodeDecodeError as error:
                yield BadLine(begun, f"not UTF-8 ({error.reason})", shorten(line.decode(errors="replace")))
                continue
            if "\0" in text:
                yield BadLine(begun, "holds a zero byte", shorten(text))
            elif text:
                yield begun, text


def _enter(file: IO[bytes], start: int) -> int:
    """Go to the first line that begins at `start` or later."""
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + _skip(file)


def _skip(file: IO[bytes]) -> int:
    """Go behind the end of the line; the bytes that were passed."""
    passed = 0
    while part := file.readline(_AT_ONCE):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def shorten(text: str) -> str:
    """The beginning of a line, as it is kept with the bad ones."""
    clean = text.strip().replace("\0", "\ufffd")
    return clean if len(clean) <= 200 else f"{clean[:197]}..."
