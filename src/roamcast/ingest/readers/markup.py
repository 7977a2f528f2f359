"""Streaming reader of XML documents: elements are not stored, and document types are rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.parsers import expat

from roamcast.ingest.file_parts import BadLine, FilePart, open_binary

_AT_ONCE = 1 << 16
_DEEPEST = 64
_LONGEST = 1 << 22
"Maximum length of a tag [B]."


class _Refused(Exception):
    """The reason why reading of a document was stopped."""


def read_elements(
    piece: FilePart, start: Callable[[str, dict[str, str], int], Any], end: Callable[[str, str, int], Any]
) -> Iterator[Any]:
    """Yield the results of `start` (tag, attributes, line) and `end` (tag, text, line) for each element.

    Results that are None are omitted. A truncated or malformed document yields the results up to the error,
    then a bad line.
    """
    made: list[Any] = []
    texts: list[str] = []

    def began(tag: str, attributes: dict[str, str]) -> None:
        if len(texts) >= _DEEPEST:
            raise _Refused(f"elements {_DEEPEST} deep")
        texts.append("")
        made.append(start(_local(tag), attributes, parser.CurrentLineNumber))

    def ended(tag: str) -> None:
        made.append(end(_local(tag), texts.pop(), parser.CurrentLineNumber))

    def text_data(text: str) -> None:
        if texts and len(texts[-1]) < 1000:
            texts[-1] += text

    def typed(*_: Any) -> None:
        raise _Refused("a document type: entities are not read")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = (
        began,
        ended,
        text_data,
    )
    parser.StartDoctypeDeclHandler = typed
    with open_binary(piece.path) as file:
        try:
            fed = 0
            while part := file.read(_AT_ONCE):
                parser.Parse(part, False)
                yield from _take(made)
                fed += len(part)
                if fed - parser.CurrentByteIndex > _LONGEST:
                    raise _Refused(f"a tag of more than {_LONGEST:,} bytes")
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            yield from _take(made)
            yield BadLine(error.lineno, f"not well-formed: {expat.ErrorString(error.code)}", "")
            return
        except (_Refused, LookupError, ValueError) as error:  # an encoding that nobody knows
            yield from _take(made)
            yield BadLine(parser.CurrentLineNumber, str(error), "")
            return
    yield from _take(made)


def _take(made: list[Any]) -> Iterator[Any]:
    found = [each for each in made if each is not None]
    made.clear()
    yield from found


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
