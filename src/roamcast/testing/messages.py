"""Messages invented from their declarations: what a stranger on the air might say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from roamcast.content.filter import Filter
from roamcast.routing.router import Message, NodeId, Publication, Router
from roamcast.wire.fields import Invention
from roamcast.wire.message import invent


def hostile_messages(
    router: type[Router],
    random: Random,
    *,
    nodes: Sequence[NodeId],
    patterns: Sequence[Filter],
    publications: Sequence[Publication],
) -> Iterator[Message]:
    """Messages of every kind that a router understands, without end: plausible, or at their bounds."""
    about = Invention(
        random, nodes=nodes, patterns=patterns, publications=publications, messages=router.messages
    )
    while True:
        yield invent(random.choice(router.messages), about)
