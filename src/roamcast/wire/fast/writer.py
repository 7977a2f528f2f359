"""Compiled encoders: one function per message class.

An encoder returns None for whatever looks unusual; the reference implementation then encodes the message or
raises the error.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.wire.blobs import FilterField, encoded_filter
from roamcast.wire.codec import LONGEST, encode
from roamcast.wire.encodings import encoded_event
from roamcast.wire.errors import WireError
from roamcast.wire.fast.layout import record_slots, slot, structure
from roamcast.wire.fast.reader import PUBLICATION
from roamcast.wire.field import HIGHEST_NODE, FieldCodec
from roamcast.wire.lists import ListOf, TupleOf
from roamcast.wire.message import Message, Payload
from roamcast.wire.publication import PublicationField

FieldWriter: TypeAlias = Callable[[Any], "bytes | None"]

_writers: dict[type[Message], FieldWriter] = {}


def encode_fast(message: Message) -> bytes:
    """Return what `encode` returns; raise the same errors."""
    try:
        write = _writers.get(type(message))
        body = write_message(message) if write is None else write(message)
    except (WireError, ContentError, struct.error, OverflowError, TypeError, AttributeError):
        return encode(message)
    if body is None:
        return encode(message)
    missing = message.minimum_size - len(body)
    if missing > 0:
        body += bytes(missing)
    return body if len(body) <= LONGEST else encode(message)


def write_message(message: Message) -> bytes | None:
    """Return a message without padding, or None."""
    kind = type(message)
    write = _writers.get(kind)
    if write is None:
        write = _writers[kind] = message_writer(kind)
    return write(message)


def message_writer(kind: type[Message]) -> FieldWriter:
    """Return a function that encodes a message of a class without padding."""
    constants: dict[str, Any] = {}
    lines = ["def write(message):"]
    if kind.inconsistency is not Message.inconsistency:
        lines.extend((" if message.inconsistency() is not None:", "  return None"))
    pieces: list[str] = []
    codes = "B"
    parts = [str(kind.number)]

    def end_run() -> None:
        nonlocal codes, parts
        if parts:
            constants[f"pack{len(constants)}"] = struct.Struct(f">{codes}").pack
            pieces.append(f"pack{len(constants) - 1}({', '.join(parts)})")
        codes, parts = "", []

    for place, (name, field) in enumerate(kind.fields.items()):
        lines.append(f" v{place} = message.{name}")
        found = slot(field, f"v{place}", constants)
        if found is not None:
            lines.extend((f" if not ({found.writable.format(v=f'v{place}')}):", "  return None"))
            codes += found.codes
            parts.extend(part.format(v=f"v{place}") for part in found.parts)
            continue
        end_run()
        constants[f"write{place}"] = field_writer(field)
        lines.extend((f" w{place} = write{place}(v{place})", f" if w{place} is None:", "  return None"))
        pieces.append(f"w{place}")
    end_run()
    lines.append(f" return {' + '.join(pieces)}")
    exec("\n".join(lines), constants)
    write: FieldWriter = constants["write"]
    return write


def field_writer(field: FieldCodec) -> FieldWriter:
    """Return a function that encodes a field of variable size."""
    if type(field) is PublicationField:
        return _write_publication
    if type(field) is FilterField:
        return _write_filter
    if type(field) is Payload:
        return _write_payload
    if type(field) is ListOf:
        return _list_writer(field)
    return partial(_write_reference, field)


def _write_reference(field: FieldCodec, value: Any) -> bytes:
    out = bytearray()
    field.write(out, value)
    return bytes(out)


def _write_publication(value: Any) -> bytes | None:
    data = encoded_event(value.event)
    publisher, sequence, size = value.publisher, value.sequence, value.size
    if not (type(publisher) is type(sequence) is type(size) is int and 0 <= publisher <= HIGHEST_NODE):
        return None
    return PUBLICATION.pack(publisher, sequence, size, len(data)) + data


def _write_filter(value: Any) -> bytes | None:
    if not isinstance(value, Filter):
        return None
    data = encoded_filter(value)
    return len(data).to_bytes(2, "big") + data if len(data) <= 0xFFFF else None


def _write_payload(value: Any) -> bytes | None:
    return write_message(value) if isinstance(value, Message) and value.envelope is None else None


def _list_writer(field: ListOf) -> FieldWriter:
    constants: dict[str, Any] = {}
    alone = slot(field.item, "r0", constants)
    slots = [alone] if alone is not None else record_slots(field.item, constants)
    if slots is None or hasattr(getattr(field.item, "kind", None), "inconsistency"):
        return partial(_write_list, field, field_writer(field.item))
    constants["pack"] = structure(slots).pack
    writable: list[str] = []
    parts: list[str] = []
    if isinstance(field.item, TupleOf):
        constants["kind"] = field.item.kind
        writable.append("type(item) is kind")
    for place, each in enumerate(slots):
        value = f"item[{place}]" if isinstance(field.item, TupleOf) else "item"
        writable.append(each.writable.format(v=value))
        parts.extend(part.format(v=value) for part in each.parts)
    items = f"[pack({', '.join(parts)}) for item in items if {' and '.join(writable)}]"
    return partial(_write_fixed_list, field, eval(f"lambda items: {items}", constants))


def _write_fixed_list(field: ListOf, items: Callable[[Any], list[bytes]], value: Any) -> bytes | None:
    if not isinstance(value, tuple if field.ordered else frozenset) or not (
        field.least <= len(value) <= field.most
    ):
        return None
    written = items(value if field.ordered else sorted(value))
    if len(written) != len(value):
        return None
    return b"".join((len(value).to_bytes(field.count_bytes, "big"), *written))


def _write_list(field: ListOf, item: FieldWriter, value: Any) -> bytes | None:
    if not isinstance(value, tuple if field.ordered else frozenset) or not (
        field.least <= len(value) <= field.most
    ):
        return None
    out = bytearray(len(value).to_bytes(field.count_bytes, "big"))
    for each in value if field.ordered else sorted(value):
        written = item(each)
        if written is None:
            return None
        out += written
    return bytes(out)
