"""Generate copies of a message with one number changed, from its declared fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

import msgspec

from roamcast.routing.router import Message, NodeId, Publication
from roamcast.wire.codec import encode
from roamcast.wire.errors import WireError
from roamcast.wire.field import HIGHEST_NODE, FieldCodec, GenerationContext
from roamcast.wire.lists import ListOf, TupleOf
from roamcast.wire.message import Payload
from roamcast.wire.numbers import Flag, Float, Int, NodeField
from roamcast.wire.publication import PublicationField

TRIES = 20
"Maximum number of attempts; a change may contradict another field, so that the message is invalid."


class Number(NamedTuple):
    """One number in a message; `replace` returns the message with another value of it."""

    field: FieldCodec
    value: Any
    replace: Callable[[Any], Any]


def change_number(message: Message, random: Random, nodes: Sequence[NodeId]) -> Message | None:
    """Return `message` with one number changed; None if no valid change was found.

    Node ids are mostly drawn from `nodes`; other numbers are mostly near the present value, near a bound, or
    half of the range away.
    """
    numbers = list(numbers_of(message))
    for _ in range(TRIES if numbers else 0):
        number = random.choice(numbers)
        value = _other(number, random, nodes)
        try:
            changed: Message = number.replace(value)
            encode(changed)
        except WireError:
            continue
        if changed != message:
            return changed
    return None


def numbers_of(message: Message) -> Iterator[Number]:
    """Yield every number, flag and node id in the fields of a message, including an envelope's payload."""
    for name, field in message.fields.items():
        for number in _numbers(field, getattr(message, name)):
            yield _within(number, partial(_in_message, message, name))


def _numbers(field: FieldCodec, value: Any) -> Iterator[Number]:
    if isinstance(field, Int | Float | Flag):
        yield Number(field, value, lambda new: new)
    elif isinstance(field, Payload):
        yield from numbers_of(value)
    elif isinstance(field, PublicationField):
        yield Number(NodeField(), value.publisher, lambda new: _publication(value, publisher=new))
        yield Number(Int(4), value.sequence, lambda new: _publication(value, sequence=new))
    elif isinstance(field, ListOf):
        items = value if field.ordered else tuple(sorted(value))
        for place, item in enumerate(items):
            for number in _numbers(field.item, item):
                yield _within(number, partial(_in_list, type(value), items, place))
    elif isinstance(field, TupleOf):
        for index, inner in enumerate(field.fields.values()):
            for number in _numbers(inner, value[index]):
                yield _within(number, partial(_in_record, value, index))


def _within(number: Number, whole: Callable[[Any], Any]) -> Number:
    """Return the number as a part of an enclosing value, which `whole` builds from the changed part."""
    return number._replace(replace=lambda new: whole(number.replace(new)))


def _in_message(message: Message, name: str, value: Any) -> Message:
    return msgspec.structs.replace(message, **{name: value})


def _in_list(kind: type, items: tuple[Any, ...], place: int, value: Any) -> Any:
    return kind((*items[:place], value, *items[place + 1 :]))


def _in_record(record: Any, index: int, value: Any) -> Any:
    items = (*record[:index], value, *record[index + 1 :])
    return items if type(record) is tuple else type(record)(*items)


def _publication(before: Publication, **changed: int) -> Publication:
    kept = {"publisher": before.publisher, "sequence": before.sequence} | changed
    return Publication(**kept, event=before.event, size=before.size)


def _other(number: Number, random: Random, nodes: Sequence[NodeId]) -> Any:
    field, value = number.field, number.value
    if isinstance(field, Flag):
        return not value
    if isinstance(field, NodeField):
        return random.choice((*nodes, *nodes, HIGHEST_NODE))
    if isinstance(field, Float):
        if math.isfinite(value) and random.random() < 0.5:
            return field.nearest(value * random.choice((-1.0, 0.5, 2.0, 100.0)))
        return field.generate(GenerationContext(random, nodes=nodes))
    assert isinstance(field, Int)
    size = field.most - field.least + 1
    near = value + random.choice((-300, -20, -2, -1, 1, 2, 3, 20, 300))
    far = field.least + (value - field.least + size // 2 + random.randint(-2, 2)) % size
    bound = random.choice((field.least, field.least + 1, field.most, field.most - 1, field.most - 3))
    anything = random.randint(field.least, field.most)
    return min(max(random.choice((near, near, far, bound, bound, anything)), field.least), field.most)
