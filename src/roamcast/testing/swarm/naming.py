"""Whom a message speaks of, by its declaration."""

from __future__ import annotations

from typing import Any

from roamcast.routing.router import Message, NodeId
from roamcast.wire.field import Field
from roamcast.wire.lists import Listed, Record
from roamcast.wire.message import Payload
from roamcast.wire.numbers import NodeField, Served
from roamcast.wire.publication import PublicationField


def nodes_named(message: Message) -> set[NodeId]:
    """The nodes in the fields of a message, the publisher of an event and what an envelope holds included."""
    return set().union(*(_named(field, getattr(message, name)) for name, field in message.fields.items()))


def _named(field: Field, value: Any) -> set[NodeId]:
    parts: list[tuple[Field, Any]] = []
    named: set[NodeId] = set()
    if isinstance(field, NodeField):
        named = {value}
    elif isinstance(field, Served):
        named = {value >> 32}
    elif isinstance(field, PublicationField):
        named = {value.publisher}
    elif isinstance(field, Payload):
        named = nodes_named(value)
    elif isinstance(field, Listed):
        parts = [(field.item, item) for item in value]
    elif isinstance(field, Record):
        parts = [(inner, getattr(value, name)) for name, inner in field.fields.items()]
    return named.union(*(_named(*part) for part in parts))
