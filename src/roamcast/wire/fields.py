"""The field codecs by name, and the mapping of annotations to codecs.

`hops: Hops` or `count: Annotated[int, Int(2)]` names a codec; a tuple or frozenset of such items is
`Annotated[tuple[SequenceGap, ...], ListOf(64)]`. A NamedTuple with annotated fields has a codec by itself, as
have a filter, a flag, a publication and, in an envelope, another message.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from roamcast.content.filter import Filter
from roamcast.wire.blobs import Blob, FilterField
from roamcast.wire.errors import DeclarationError
from roamcast.wire.field import HIGHEST_NODE, FieldCodec, GenerationContext, NodeId
from roamcast.wire.lists import ListOf, PlainRecord, TupleOf
from roamcast.wire.numbers import Flag, Float, Int, NodeField, PublicationRef
from roamcast.wire.publication import Publication, PublicationField

__all__ = [
    "HIGHEST_NODE",
    "Blob",
    "Float",
    "GenerationContext",
    "Hops",
    "Incarnation",
    "Int",
    "ListOf",
    "Milliseconds",
    "Node",
    "NodeId",
    "PublicationId",
    "Sequence",
    "Serial",
    "field_of",
    "plain",
]

Node: TypeAlias = Annotated[NodeId, NodeField()]
PublicationId: TypeAlias = Annotated[int, PublicationRef()]
"Id of the publication that a message serves without carrying it."
Hops: TypeAlias = Annotated[int, Int(1)]
Serial: TypeAlias = Annotated[int, Int(4)]
"A number that only increases."
Sequence: TypeAlias = Annotated[int, Int(4)]
"Sequence number of a publication, counted in a circle."
Incarnation: TypeAlias = Annotated[int, Int(1)]
"Number of starts of a node with empty memory, modulo 256."
Milliseconds: TypeAlias = Annotated[int, Int(4)]


def field_of(annotation: Any) -> FieldCodec:
    """Return the field codec that an annotation denotes."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        kinds = [each for each in metadata if isinstance(each, FieldCodec)]
        if len(kinds) == 1:
            return _several(inner, kinds[0]) if isinstance(kinds[0], ListOf) else kinds[0]
    elif annotation is bool:
        return Flag()
    elif annotation is Filter:
        return FilterField()
    elif annotation is Publication:
        return PublicationField()
    elif isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        hints = get_type_hints(annotation, include_extras=True)
        return TupleOf(annotation, {name: field_of(hints[name]) for name in annotation._fields})
    raise DeclarationError(f"{annotation!r} has no field codec; add one, as in Annotated[int, Int(4)]")


def plain(kind: type[tuple[Any, ...]]) -> PlainRecord:
    """Return the field kind of plain tuples with the fields of a NamedTuple."""
    record = field_of(kind)
    assert isinstance(record, TupleOf), f"{kind.__name__} is not a NamedTuple"
    return PlainRecord(record.kind, record.fields)


def _several(annotation: Any, listed: ListOf) -> ListOf:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return listed.of(field_of(arguments[0]), ordered=True)
    if origin is frozenset:
        return listed.of(field_of(arguments[0]), ordered=False)
    raise DeclarationError(f"{annotation!r}: ListOf needs tuple[X, ...] or frozenset[X]")
