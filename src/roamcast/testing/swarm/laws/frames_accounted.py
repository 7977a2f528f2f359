"""Every frame is accounted for."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from roamcast.routing.router import BROADCAST, Drop, Message, NodeId
from roamcast.testing.swarm.record import SwarmRecord

Passage: TypeAlias = tuple[NodeId, NodeId, int, int]
"Sender, receiver, kind and publication."


def check(record: SwarmRecord) -> str | None:
    """Every message sent is heard or lost at each addressee, and heard by nobody else; every answer is a Drop
    or None."""
    if record.ended_early:
        return None
    for heard in record.receptions:
        if heard.answer is not None and not isinstance(heard.answer, Drop):
            return f"{heard.answer!r} is no answer to a {type(heard.message).__name__}: a Drop, or None"
    sent = Counter(_passage(a.node, to, a.message) for a in record.transmissions for to in a.reach)
    # What found no room in the queue was to be heard by nobody; that of a silent radio reaches nobody.
    unsent = Counter(_passage(row.node, BROADCAST, row.message) for row in record.lost if row.to == BROADCAST)
    ended = Counter(_passage(row.node, row.to, row.message) for row in record.lost if row.to != BROADCAST)
    for heard in record.receptions:
        if not heard.forged:
            ended[_passage(heard.sender, heard.node, heard.message)] += 1
    for passage in ended:
        if passage not in sent:
            return f"{_describe(passage)} was heard or lost, and never sent"
    for passage, times in sent.items():
        left = times - ended[passage]
        if left > 0 and left > unsent[passage[0], BROADCAST, passage[2], passage[3]]:
            return f"{_describe(passage)} was sent {times} times, heard or lost {ended[passage]} times"
    return None


def _passage(sender: NodeId, to: NodeId, message: Message) -> Passage:
    return sender, to, message.number, message.publication_id


def _describe(passage: Passage) -> str:
    sender, to, kind, about = passage
    return f"a message of kind {kind} about publication {about} from {sender} to {to}"
