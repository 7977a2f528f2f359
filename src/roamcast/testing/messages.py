"""Generate forged messages from their declarations, and find the nodes that a message names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from roamcast.content.filter import Filter
from roamcast.routing.router import Message, NodeId, Publication, Router
from roamcast.wire.field import FieldCodec
from roamcast.wire.fields import GenerationContext
from roamcast.wire.lists import ListOf, TupleOf
from roamcast.wire.message import Payload, generate
from roamcast.wire.numbers import NodeField, PublicationRef
from roamcast.wire.publication import PublicationField


def hostile_messages(
    router: type[Router],
    random: Random,
    *,
    nodes: Sequence[NodeId],
    patterns: Sequence[Filter],
    publications: Sequence[Publication],
) -> Iterator[Message]:
    """Yield an endless sequence of messages of all kinds of a router, plausible or at their bounds."""
    about = GenerationContext(
        random, nodes=nodes, patterns=patterns, publications=publications, messages=router.messages
    )
    while True:
        yield generate(random.choice(router.messages), about)


def nodes_named(message: Message) -> set[NodeId]:
    """Return the nodes in the fields of a message, including publishers of events and envelope payloads."""
    return set().union(*(_named(field, getattr(message, name)) for name, field in message.fields.items()))


def _named(field: FieldCodec, value: Any) -> set[NodeId]:
    parts: list[tuple[FieldCodec, Any]] = []
    named: set[NodeId] = set()
    if isinstance(field, NodeField):
        named = {value}
    elif isinstance(field, PublicationRef):
        named = {value >> 32}
    elif isinstance(field, PublicationField):
        named = {value.publisher}
    elif isinstance(field, Payload):
        named = nodes_named(value)
    elif isinstance(field, ListOf):
        parts = [(field.item, item) for item in value]
    elif isinstance(field, TupleOf):
        parts = [(inner, getattr(value, name)) for name, inner in field.fields.items()]
    return named.union(*(_named(*part) for part in parts))
