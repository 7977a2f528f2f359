"""The kinds of field by name, and how an annotation is read as one.

`hops: Hops` or `count: Annotated[int, Whole(2)]` names a kind; a tuple or frozenset of such items is
`Annotated[tuple[Hole, ...], Listed(64)]`. A record (a NamedTuple whose fields are annotated so) is a kind by
itself, and so are a filter, a flag, a publication and, in an envelope, another message.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from roamcast.content.filter import Filter
from roamcast.wire.blobs import Blob, Pattern
from roamcast.wire.errors import DeclarationError
from roamcast.wire.field import HIGHEST_NODE, Field, Invention, NodeId
from roamcast.wire.lists import Listed, Record
from roamcast.wire.numbers import Flag, NodeField, Real, Served, Whole
from roamcast.wire.publication import Publication, PublicationField

__all__ = [
    "HIGHEST_NODE",
    "Blob",
    "Hops",
    "Incarnation",
    "Invention",
    "Listed",
    "Milliseconds",
    "Node",
    "NodeId",
    "PublicationId",
    "Real",
    "Sequence",
    "Serial",
    "Whole",
    "field_of",
]

Node: TypeAlias = Annotated[NodeId, NodeField()]
PublicationId: TypeAlias = Annotated[int, Served()]
"Of the publication that a message serves without carrying it."
Hops: TypeAlias = Annotated[int, Whole(1)]
Serial: TypeAlias = Annotated[int, Whole(4)]
"A number that only rises."
Sequence: TypeAlias = Annotated[int, Whole(4)]
"Of a publication among its publisher's: the incarnation in the highest byte, then a count."
Incarnation: TypeAlias = Annotated[int, Whole(1)]
"How often a node has started with an empty memory, modulo 256."
Milliseconds: TypeAlias = Annotated[int, Whole(4)]


def field_of(annotation: Any) -> Field:
    """The kind of field that an annotation names."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *said = get_args(annotation)
        kinds = [each for each in said if isinstance(each, Field)]
        if len(kinds) == 1:
            return _several(inner, kinds[0]) if isinstance(kinds[0], Listed) else kinds[0]
    elif annotation is bool:
        return Flag()
    elif annotation is Filter:
        return Pattern()
    elif annotation is Publication:
        return PublicationField()
    elif isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        hints = get_type_hints(annotation, include_extras=True)
        return Record(annotation, {name: field_of(hints[name]) for name in annotation._fields})
    raise DeclarationError(
        f"{annotation!r} does not say how it is written; name a field kind, as Annotated[int, Whole(4)]"
    )


def _several(annotation: Any, listed: Listed) -> Listed:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return listed.of(field_of(arguments[0]), ordered=True)
    if origin is frozenset:
        return listed.of(field_of(arguments[0]), ordered=False)
    raise DeclarationError(f"{annotation!r}: Listed goes with tuple[X, ...] or frozenset[X]")
