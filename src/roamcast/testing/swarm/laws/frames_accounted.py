"""Law: every frame is received or lost."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from roamcast.routing.router import BROADCAST, Drop, Message, NodeId
from roamcast.testing.swarm.record import SwarmRecord

Passage: TypeAlias = tuple[NodeId, NodeId, int, int]
"Sender, receiver, message number and publication id."


def check(record: SwarmRecord) -> str | None:
    """Check that every sent message is received or lost at each intended receiver, and received nowhere else.

    Check also that `receive` returns a `Drop` or None.
    """
    if record.ended_early:
        return None
    for heard in record.receptions:
        if heard.answer is not None and not isinstance(heard.answer, Drop):
            name = type(heard.message).__name__
            return f"receive() of a {name} returned {heard.answer!r}; expected a Drop or None"
    sent = Counter(_passage(a.node, to, a.message) for a in record.transmissions for to in a.reach)
    # A message that a full queue or a radio that is off discarded has no receivers.
    unsent = Counter(_passage(row.node, BROADCAST, row.message) for row in record.lost if row.to == BROADCAST)
    ended = Counter(_passage(row.node, row.to, row.message) for row in record.lost if row.to != BROADCAST)
    for heard in record.receptions:
        if not heard.forged:
            ended[_passage(heard.sender, heard.node, heard.message)] += 1
    for passage in ended:
        if passage not in sent:
            return f"{_describe(passage)} was received or lost, but never sent"
    for passage, times in sent.items():
        left = times - ended[passage]
        if left > 0 and left > unsent[passage[0], BROADCAST, passage[2], passage[3]]:
            return f"{_describe(passage)} was sent {times} times, but received or lost {ended[passage]} times"
    return None


def _passage(sender: NodeId, to: NodeId, message: Message) -> Passage:
    return sender, to, message.number, message.publication_id


def _describe(passage: Passage) -> str:
    sender, to, kind, about = passage
    return f"a message of kind {kind} about publication {about} from {sender} to {to}"
