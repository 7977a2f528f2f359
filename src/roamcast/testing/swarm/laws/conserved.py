"""Nothing disappears silently."""

from __future__ import annotations

from math import inf

from roamcast.routing.router import Message, NodeId, Role
from roamcast.testing.swarm.record import Record


def check(record: Record) -> str | None:
    """An event that a router took without a Drop is delivered, passed on, answered or dropped by it, unless
    its node crashes, or its publisher does and it waits for what comes before."""
    if record.ended_early or record.history.hostile:
        return None
    done: dict[tuple[NodeId, int], float] = {}
    for got in record.got:
        _note(done, got.node, got.publication.id, got.time)
    for aired in record.aired:
        _note(done, aired.node, aired.message.about, aired.time)
    for drop in record.drops:
        if isinstance(drop.message, Message):
            _note(done, drop.node, drop.message.about, drop.time)
    for heard in record.heard:
        message = heard.message
        if message.role is not Role.CARRIES or heard.answer is not None:
            continue
        life = record.life(heard.node, heard.time)
        author = record.life(message.about >> 32, heard.time)
        if life is None or author is None or min(life.end, author.end) < record.left_at:
            continue
        if done.get((heard.node, message.about), -inf) < heard.time:
            name = type(message).__name__
            return (
                f"a {name} of publication {message.about} vanished in node {heard.node} at {heard.time:.3f} s"
            )
    return None


def _note(done: dict[tuple[NodeId, int], float], node: NodeId, about: int, time: float) -> None:
    done[node, about] = max(time, done.get((node, about), -inf))
