"""File parts: byte ranges of a file that tasks read independently, line by line, in bounded memory.

A line belongs to the part that contains its first byte, so every line is read exactly once.
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
"Maximum length of a line [B]; a longer line is bad. A BonnMotion line contains a node's whole movement."

_AT_ONCE = 1 << 16


class IngestError(UserError):
    """A file that cannot be read or is not in the expected format."""


class FilePart(NamedTuple):
    """A byte range of a file, from `start` up to but excluding `end`."""

    path: str
    start: int = 0
    end: int | None = None
    "None stands for the end of the file."


class BadLine(NamedTuple):
    """A line that could not be parsed."""

    offset: int
    "Position of the line's first byte in the (decompressed) file [B]."
    why: str
    text: str
    "The beginning of the line."


def refuse_mostly_bad(path: str, good: int, bad: int, offset: int, why: str) -> None:
    """Raise `IngestError` if a file has more bad than good lines; `offset` and `why` describe the first."""
    if bad > good:
        raise IngestError(
            f"{path}: {bad:,} of {good + bad:,} lines cannot be parsed; check the format; "
            f"the first one, at {offset}: {why}"
        )


def find_files(paths: list[str]) -> list[str]:
    """Return the files that `paths` name: files, folders, patterns with `*`, and URLs that Arrow can open."""
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
    """Open a file for reading; a file whose name ends in `.gz` is decompressed."""
    try:
        with _open(path) as file:
            yield file
    except FileNotFoundError:
        raise IngestError(f"{path}: no such file") from None
    except (EOFError, zlib.error):
        raise IngestError(f"{path}: the compressed content is damaged or truncated") from None
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
    except ValueError as error:  # an unsupported URL scheme or an invalid file name
        raise IngestError(f"{path}: {error}") from None
    return cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if path.endswith(".gz") else plain


def measure_size(path: str) -> int:
    """Return the size of a file as stored [B]."""
    with open_binary(path) as file:
        raw = file.fileobj if isinstance(file, gzip.GzipFile) else file
        return int(raw.seek(0, io.SEEK_END))


def split(path: str, size: int, *, splittable: bool) -> list[FilePart]:
    """Split a file into parts of `size` bytes; one part if its format or compression cannot be split."""
    whole = measure_size(path)
    if not splittable or path.endswith(".gz") or whole <= size:
        return [FilePart(path)]
    return [FilePart(path, start, min(start + size, whole)) for start in range(0, whole, size)]


def read_lines(piece: FilePart, most: int = MOST_LINE) -> Iterator[tuple[int, str] | BadLine]:
    """Yield the non-empty lines of a part, stripped, with their offsets."""
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
    """Seek to the first line that begins at `start` or later; return its offset."""
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + _skip(file)


def _skip(file: IO[bytes]) -> int:
    """Skip the rest of the line; return the number of bytes skipped."""
    passed = 0
    while part := file.readline(_AT_ONCE):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def shorten(text: str) -> str:
    """Return the first 200 characters of a line, for the list of bad lines."""
    clean = text.strip().replace("\0", "\ufffd")
    return clean if len(clean) <= 200 else f"{clean[:197]}..."
