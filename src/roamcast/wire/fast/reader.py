"""Compiled decoders: one function per message class, which reads each byte once.

Fixed fields that follow each other are read by one `struct`. If their bytes are missing or out of bounds, the
reference implementation reads them again and raises the error.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from roamcast.content.errors import ContentError, UnknownType
from roamcast.content.filter import Filter
from roamcast.wire.blobs import FilterField
from roamcast.wire.byte_reader import ByteReader
from roamcast.wire.encodings import encoded_event
from roamcast.wire.errors import UnknownEventType, WireError
from roamcast.wire.fast.layout import Slot, conditions, names, record_slots, slot, structure
from roamcast.wire.field import HIGHEST_NODE, FieldCodec
from roamcast.wire.lists import ListOf, TupleOf
from roamcast.wire.message import Message, Payload, check_inner
from roamcast.wire.publication import Publication, PublicationField

if TYPE_CHECKING:
    from roamcast.wire.fast.codec import FastCodec

FieldReader: TypeAlias = "Callable[[bytes, int, FastCodec], tuple[Any, int]]"
"Returns the value of a field at an index of the data, and where it ends."

MOST_KNOWN = 64
"Lists of numbers that are remembered for each field, by their encoding."
LONGEST_KNOWN = 64
"Bytes of such a list."
PUBLICATION = Struct(">IIHH")
_PUBLICATION_FIELD = PublicationField()


def fail(fields: Iterable[FieldCodec], data: bytes, at: int, codec: FastCodec) -> NoReturn:
    """Raise the error of the reference implementation for `fields` at an index."""
    octets = _reference(data, at, codec)
    for field in fields:
        field.read(octets)
    raise WireError("the message cannot be decoded")


def message_reader(kind: type[Message]) -> FieldReader:
    """Return a function that decodes a message of a class after its number."""
    constants: dict[str, Any] = {"kind": kind, "fail": fail, "ShortData": struct.error}
    lines = ["def read(data, at, codec):"]
    values: list[str] = []
    run: list[tuple[FieldCodec, Slot]] = []

    def end_run() -> None:
        if run:
            slots = [each for _, each in run]
            number = len(constants)
            layout = structure(slots)
            constants[f"unpack{number}"] = layout.unpack_from
            constants[f"fields{number}"] = [field for field, _ in run]
            lines.extend(
                (
                    " try:",
                    f"  {names(slots)} = unpack{number}(data, at)",
                    " except ShortData:",
                    f"  fail(fields{number}, data, at, codec)",
                )
            )
            if conditions(slots) != "True":
                lines.extend((f" if not ({conditions(slots)}):", f"  fail(fields{number}, data, at, codec)"))
            lines.append(f" at += {layout.size}")
            run.clear()

    for place, field in enumerate(kind.fields.values()):
        found = slot(field, f"v{place}", constants)
        if found is None:
            end_run()
            constants[f"read{place}"] = field_reader(field)
            lines.append(f" v{place}, at = read{place}(data, at, codec)")
            values.append(f"v{place}")
        else:
            run.append((field, found))
            values.append(found.value)
    end_run()
    lines.append(f" message = kind({', '.join(values)})")
    if kind.inconsistency is not Message.inconsistency:
        constants["WireError"] = WireError
        lines.extend(
            (
                " problem = message.inconsistency()",
                " if problem is not None:",
                f"  raise WireError('{kind.__name__}: ' + problem)",
            )
        )
    lines.append(" return message, at")
    exec("\n".join(lines), constants)
    read: FieldReader = constants["read"]
    return read


def field_reader(field: FieldCodec) -> FieldReader:
    """Return a function that decodes a field of variable size."""
    if type(field) is PublicationField:
        return _read_publication
    if type(field) is FilterField:
        return partial(_read_filter, field)
    if type(field) is Payload:
        return partial(_read_payload, field)
    if type(field) is ListOf:
        return _list_reader(field)
    if type(field) is TupleOf:
        return partial(_read_tuple, field, [field_reader(each) for each in field.fields.values()])
    return partial(_read_reference, field)


def _reference(data: bytes, at: int, codec: FastCodec) -> ByteReader:
    octets = ByteReader(data, codec.kinds, codec.types)
    octets.at = at
    return octets


def _read_reference(field: FieldCodec, data: bytes, at: int, codec: FastCodec) -> tuple[Any, int]:
    octets = _reference(data, at, codec)
    return field.read(octets), octets.at


def _read_publication(data: bytes, at: int, codec: FastCodec) -> tuple[Publication, int]:
    try:
        publisher, sequence, size, length = PUBLICATION.unpack_from(data, at)
    except struct.error:
        fail((_PUBLICATION_FIELD,), data, at, codec)
    start = at + 12
    end = start + length
    if publisher > HIGHEST_NODE or end > len(data):
        fail((_PUBLICATION_FIELD,), data, at, codec)
    encoded = data[start:end]
    try:
        event = codec.events.read(encoded)
    except UnknownType as error:
        raise UnknownEventType(error.fingerprint) from None
    except ContentError as error:
        raise WireError(str(error)) from None
    encoded_event.remember(event, encoded)
    return Publication(publisher, sequence, event, size), end


def _read_filter(field: FieldCodec, data: bytes, at: int, codec: FastCodec) -> tuple[Filter, int]:
    start = at + 2
    end = start + int.from_bytes(data[at:start], "big")
    if start > len(data) or end > len(data):
        fail((field,), data, at, codec)
    found = codec.filters.get(data[start:end])
    if found is None:
        found, _ = _read_reference(field, data, at, codec)
        codec.remember_filter(data[start:end], found)
    return found, end


def _read_payload(field: FieldCodec, data: bytes, at: int, codec: FastCodec) -> tuple[Message, int]:
    if at >= len(data):
        fail((field,), data, at, codec)
    check_inner(codec.kinds.get(data[at]))
    return codec.read_body(data, at)


def _read_tuple(
    field: TupleOf, readers: list[FieldReader], data: bytes, at: int, codec: FastCodec
) -> tuple[Any, int]:
    parts = []
    for read in readers:
        part, at = read(data, at, codec)
        parts.append(part)
    value = field.kind(*parts)
    field.check(value)
    return value, at


def _list_reader(field: ListOf) -> FieldReader:
    constants: dict[str, Any] = {}
    alone = slot(field.item, "r0", constants)
    slots = [alone] if alone is not None else record_slots(field.item, constants)
    if slots is None:
        return partial(_read_list, field, field_reader(field.item))
    if alone is not None and field.ordered:
        return partial(
            _read_known_list, field, structure(slots).size, _items_reader(field, slots, constants), {}
        )
    return partial(_read_fixed_list, field, structure(slots).size, _items_reader(field, slots, constants))


def _items_reader(
    field: ListOf, slots: list[Slot], constants: dict[str, Any]
) -> Callable[[bytes], list[Any]]:
    """Return a function that returns the valid items in the bytes of a list of fixed items."""
    constants["unpack"] = structure(slots).iter_unpack
    value, valid = ", ".join(each.value for each in slots), conditions(slots)
    if isinstance(field.item, TupleOf):
        constants["kind"] = field.item.kind
        value = f"kind({value})"
        if hasattr(field.item.kind, "inconsistency"):
            valid, value = f"{valid} and (item := {value}).inconsistency() is None", "item"
    items = f"[{value} for {names(slots)} in unpack(data)" + ("]" if valid == "True" else f" if {valid}]")
    read: Callable[[bytes], list[Any]] = eval(f"lambda data: {items}", constants)
    return read


def _read_fixed_list(  # noqa: PLR0917 -- the first three are bound by `partial`
    field: ListOf, size: int, items: Callable[[bytes], list[Any]], data: bytes, at: int, codec: FastCodec
) -> tuple[Any, int]:
    start = at + field.count_bytes
    count = int.from_bytes(data[at:start], "big")
    end = start + count * size
    if end > len(data) or start > len(data) or not field.least <= count <= field.most:
        fail((field,), data, at, codec)
    found = items(data[start:end])
    if len(found) != count:
        fail((field,), data, at, codec)
    if field.ordered:
        return tuple(found), end
    if any(a >= b for a, b in pairwise(found)):
        fail((field,), data, at, codec)
    return frozenset(found), end


def _read_known_list(  # noqa: PLR0917 -- the first four are bound by `partial`
    field: ListOf,
    size: int,
    items: Callable[[bytes], list[Any]],
    known: dict[bytes, tuple[Any, ...]],
    data: bytes,
    at: int,
    codec: FastCodec,
) -> tuple[Any, int]:
    """Read a list of numbers, such as a route: the same ones come again and again."""
    end = at + field.count_bytes + int.from_bytes(data[at : at + field.count_bytes], "big") * size
    encoded = data[at:end]
    found = known.get(encoded)
    if found is not None:
        return found, end
    found, end = _read_fixed_list(field, size, items, data, at, codec)
    if len(encoded) <= LONGEST_KNOWN:
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[encoded] = found
    return found, end


def _read_list(field: ListOf, item: FieldReader, data: bytes, at: int, codec: FastCodec) -> tuple[Any, int]:
    start = at + field.count_bytes
    count = int.from_bytes(data[at:start], "big")
    if start > len(data) or not field.least <= count <= field.most:
        fail((field,), data, at, codec)
    at = start
    found = []
    for _ in range(count):
        value, at = item(data, at, codec)
        found.append(value)
    if field.ordered:
        return tuple(found), at
    if any(a >= b for a, b in pairwise(found)):
        raise WireError("the items of a set are not sorted")
    return frozenset(found), at
