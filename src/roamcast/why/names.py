"""How people write events and requests: 3/17 is the 17th of node 3."""

from __future__ import annotations

from roamcast.facts.tables import FactsError

_LIMIT = 1 << 32


def read_publication(text: str) -> int:
    """A publication as people write it: `3/17` (publisher and sequence number) or the number in the facts."""
    return _read(text, "event", "publisher/sequence, as in 0/641")


def read_request(text: str) -> int:
    """A request as people write it: `3/17` (the node, and which of its requests) or its number."""
    return _read(text, "request", "node/number, as in 9/3")


def name_publication(publication: int) -> str:
    """A publication as `read_publication` reads it, a request as `read_request` does."""
    return f"{publication >> 32}/{publication & 0xFFFFFFFF}"


def _read(text: str, what: str, form: str) -> int:
    first, slash, second = text.partition("/")
    parts = (first, second) if slash else (text,)
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise FactsError(f"{text!r} names no {what}; write {form}")
    numbers = [int(part) for part in parts]
    if slash and (numbers[0] >= _LIMIT >> 1 or numbers[1] >= _LIMIT):
        raise FactsError(f"{text!r} names no {what}; write {form}")
    return numbers[0] << 32 | numbers[1] if slash else numbers[0]
