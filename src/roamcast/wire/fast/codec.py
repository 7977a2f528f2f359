"""The fast codec of a node: compiled decoders of its messages, and ids of duplicates without decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TypeAlias

from roamcast.content.codec.event_reader import EventReader
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.wire.codec import LONGEST, MessageCodec
from roamcast.wire.encodings import FACTOR, MOST_BYTES, OVERHEAD
from roamcast.wire.errors import WireError
from roamcast.wire.fast.layout import Slot, names, slot, structure
from roamcast.wire.fast.reader import FieldReader, message_reader
from roamcast.wire.message import Message
from roamcast.wire.publication import PublicationField

Peek: TypeAlias = Callable[[bytes], "int | None"]
"Returns the value of a message's `dedup_field` from its bytes; None if they are too short."


class FastCodec:
    """The message kinds and the event types that a node can decode; decodes what `MessageCodec` decodes.

    `types` may grow but not shrink.
    """

    def __init__(self, messages: Iterable[type[Message]], types: Mapping[str, EventType]) -> None:
        self.kinds = MessageCodec(messages).kinds
        self.types = types
        self.events = EventReader(types)
        self.filters: dict[bytes, Filter] = {}
        "Recent filters by their encoding."
        self._filter_bytes = 0
        self._readers: dict[int, FieldReader] = {
            number: message_reader(kind) for number, kind in self.kinds.items()
        }
        found = {number: _peek(kind) for number, kind in self.kinds.items()}
        self.peeks: dict[int, Peek] = {number: peek for number, peek in found.items() if peek is not None}
        "By message number; for messages that are recognised by their first fields alone."

    def decode(self, data: bytes) -> Message:
        """Return what `MessageCodec.decode` returns; raise the same errors."""
        if len(data) > LONGEST:
            raise WireError(f"{len(data)} bytes; the maximum is {LONGEST}")
        read = self._readers.get(data[0]) if data else None
        message: Message
        message, at = self.read_body(data, 0) if read is None else read(data, 1, self)
        padding = message.minimum_size - at
        if at != len(data) if padding <= 0 else data[at:] != bytes(padding):
            raise WireError(f"the message does not end with {max(padding, 0)} bytes of padding")
        return message

    def read_body(self, data: bytes, at: int) -> tuple[Message, int]:
        """Return the message without padding at an index, and where it ends."""
        read = self._readers.get(data[at]) if at < len(data) else None
        if read is None:
            if at >= len(data):
                raise WireError(f"the message ends after {len(data)} bytes, 1 too early")
            raise WireError(f"unknown message number {data[at]}")
        message: Message
        message, end = read(data, at + 1, self)
        return message, end

    def duplicate_id(self, data: bytes) -> int | None:
        """Return the value of the `dedup_field` of an encoded message without decoding the message.

        None if the message has none, or if it does not depend on the first fields alone.
        """
        peek = self.peeks.get(data[0]) if data else None
        return None if peek is None else peek(data)

    def remember_filter(self, data: bytes, filter: Filter) -> None:
        """Keep a decoded filter; the oldest makes room."""
        self.filters[data] = filter
        self._filter_bytes += OVERHEAD + FACTOR * len(data)
        while self._filter_bytes > MOST_BYTES:
            oldest = next(iter(self.filters))
            del self.filters[oldest]
            self._filter_bytes -= OVERHEAD + FACTOR * len(oldest)


def _peek(kind: type[Message]) -> Peek | None:
    """Return a function that computes the `dedup_field` from the fixed fields at the start of a message."""
    if kind.dedup_field is None:
        return None
    slots: list[Slot] = []
    fields: list[tuple[str, str]] = []
    for name, field in kind.fields.items():
        if isinstance(field, PublicationField) and kind.dedup_field == "publication_id":
            start = 1 + structure(slots).size
            return lambda data: (
                int.from_bytes(data[start : start + 8], "big") if len(data) >= start + 8 else None
            )
        found = slot(field, f"v{len(slots)}", {})
        if found is None:
            break
        slots.append(found)
        fields.append((name, found.value))
    compute = getattr(kind, kind.dedup_field)
    if not isinstance(compute, property) or compute.fget is None:
        return None
    layout, get = structure(slots), compute.fget
    try:
        get(SimpleNamespace(**{name: 0 for name, _ in fields}))
    except (AttributeError, TypeError):
        return None
    values = eval(
        f"lambda {names(slots).rstrip(', ')}: dict({', '.join(f'{name}={value}' for name, value in fields)})"
    )
    size = 1 + layout.size

    def peek(data: bytes) -> int | None:
        if len(data) < size:
            return None
        return int(get(SimpleNamespace(**values(*layout.unpack_from(data, 1)))))

    return peek
