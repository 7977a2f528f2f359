"""Read and write the ids of publications and requests; 3/17 is the 17th of node 3."""

from __future__ import annotations

from roamcast.facts.tables import FactsError

_LIMIT = 1 << 32


def read_publication(text: str) -> int:
    """Parse a publication id: `3/17` (publisher and sequence number) or the integer in the facts."""
    return _read(text, "event", "publisher/sequence, as in 0/641")


def read_request(text: str) -> int:
    """Parse a request id: `3/17` (node and number of the request at this node) or the integer."""
    return _read(text, "request", "node/number, as in 9/3")


def name_publication(publication: int) -> str:
    """Format the id of a publication or a request as `node/number`."""
    return f"{publication >> 32}/{publication & 0xFFFFFFFF}"


def _read(text: str, what: str, form: str) -> int:
    first, slash, second = text.partition("/")
    parts = (first, second) if slash else (text,)
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise FactsError(f"{text!r} is not a valid {what} id; expected {form}")
    numbers = [int(part) for part in parts]
    if slash and (numbers[0] >= _LIMIT >> 1 or numbers[1] >= _LIMIT):
        raise FactsError(f"{text!r} is not a valid {what} id; expected {form}")
    return numbers[0] << 32 | numbers[1] if slash else numbers[0]
