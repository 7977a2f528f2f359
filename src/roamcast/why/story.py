"""The story of one event and one node, and the count of all causes."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from roamcast.facts.tables import Facts, FactsError
from roamcast.why.trail import LINK_LOSSES, Sent, Trail
from roamcast.why.why import Cause, Explainer


class Tally(NamedTuple):
    """How often a cause was at work, and a case of it."""

    cause: Cause
    times: int
    publication: int
    node: int


def read_publication(text: str) -> int:
    """A publication as people write it: `3/17` (publisher and sequence number) or the number in the facts."""
    publisher, slash, sequence = text.partition("/")
    try:
        return (int(publisher) << 32 | int(sequence)) if slash else int(text)
    except ValueError:
        raise FactsError(f"{text!r} names no event; write publisher/sequence, as in 0/641") from None


def name_publication(publication: int) -> str:
    """A publication as `read_publication` reads it."""
    return f"{publication >> 32}/{publication & 0xFFFFFFFF}"


def tally(facts: Facts) -> tuple[list[Tally], int]:
    """The causes of all losses after the warm-up, the most frequent first; and what was expected in all."""
    trail = Trail(facts)
    explainer = Explainer(trail)
    counts: Counter[Cause] = Counter()
    cases: dict[Cause, tuple[int, int]] = {}
    for publication, node in trail.misses():
        cause = explainer.explain(publication, node).cause
        counts[cause] += 1
        cases.setdefault(cause, (publication, node))
    expected = sum(trail.published[publication] >= trail.run.warmup for publication, _ in trail.expected)
    return [Tally(cause, count, *cases[cause]) for cause, count in counts.most_common()], expected


def tell(facts: Facts, publication: int, node: int) -> list[str]:
    """What happened to one event on its way to one node, a sentence a line."""
    trail = Trail(facts)
    if publication not in trail.published:
        known = name_publication(min(trail.published)), name_publication(max(trail.published))
        raise FactsError(
            f"no event {name_publication(publication)} was published; there are {' to '.join(known)}"
        )
    if not 0 <= node < trail.run.nodes:
        raise FactsError(f"there is no node {node}; this run has nodes 0 to {trail.run.nodes - 1}")
    explainer = Explainer(trail)
    time = trail.published[publication]
    story = [
        f"t={time:.3f} node {trail.publisher(publication)} published {trail.contents[publication]}"
        f" as {name_publication(publication)}"
    ]
    wanting = explainer.wanting(publication, node)
    expected = (publication, node) in set(trail.expected)
    if wanting is not None and expected:
        story.append(f"node {node} had wanted {wanting.wanted} since t={wanting.since:.1f}")
    delivered = trail.delivered.get((publication, node))
    if delivered is not None:
        copies = trail.sent.get(publication, [])
        for sent in way(trail, publication, node, delivered):
            again = any(other.node == sent.node and other.time < sent.time for other in copies)
            story.append(_hop(sent, sent.time - time, again))
        extra = "" if expected else ", although it did not want it when it was published"
        story.append(f"t={delivered:.3f} node {node} got it, {delivered - time:.3f} s after{extra}")
    elif not expected:
        story.append(f"node {node} did not want it, and did not get it")
    else:
        verdict = explainer.explain(publication, node)
        story += verdict.story
        story.append(f"so it was lost: {verdict.cause.value}")
    return story


def way(trail: Trail, publication: int, node: int, delivered: float) -> list[Sent]:
    """The transmissions that brought an event to a node, as far as movement and losses tell."""
    copies = trail.sent.get(publication, [])
    losses = {
        (lost.node, lost.peer, lost.time)
        for lost in trail.lost.get(publication, [])
        if lost.cause in LINK_LOSSES
    }
    hops: list[Sent] = []
    at, until = node, delivered
    while at != trail.publisher(publication) and len(hops) < 64:
        before = [sent for sent in copies if sent.time <= until and _hears(trail, at, sent, losses)]
        if not before:
            break
        # On a tree a node acts on the first copy; a unicast is handled when it comes.
        hop = before[-1] if before[-1].to == at else before[0]
        hops.append(hop)
        at, until = hop.node, hop.time
    return hops[::-1]


def _hears(trail: Trail, node: int, sent: Sent, losses: set[tuple[int, int, float]]) -> bool:
    """Whether a transmission came to a node, as far as movement and losses tell."""
    if sent.failed or sent.node == node:
        return False
    if sent.to >= 0:
        return sent.to == node
    if trail.reach.distance(node, sent.node, sent.time) > trail.reach.range + trail.reach.edge:
        return False
    # A loss is noted when the frame ends, a few milliseconds after it was sent.
    return not any(
        n == node and peer == sent.node and 0 <= time - sent.time < 0.02 for n, peer, time in losses
    )


def _hop(sent: Sent, after: float, again: bool) -> str:
    whom = f"node {sent.to}" if sent.to >= 0 else "its neighbours"
    sent_it = "sent it again" if again else "sent it"
    return f"t={sent.time:.3f} node {sent.node} {sent_it} to {whom} ({sent.kind}, {after:.3f} s after)"
