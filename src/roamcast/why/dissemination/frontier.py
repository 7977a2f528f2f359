"""Find where a flooded event stopped on its way to a node.

The search starts at the node that missed the event and visits its neighbours in rings, until it meets nodes
at which copies stopped: a frame was lost, no node was in range of the sender, or a router dropped it. The
reasons nearest to the node are reported. The rings are computed once per event, from the nodes at which its
copies stopped to all others: a search from each node that missed it is quadratic in large networks.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from roamcast.why.causes import DROP_CAUSES, FRAME_LOSSES, RETRIES_ENDED, Cause, Diagnosis, describe_reason
from roamcast.why.proofs.outages import describe
from roamcast.why.trail.trail import Trail, TrailDrop, TrailTransmission

MAX_SENTENCES = 3
"Maximum number of sentences per cause; further ones are counted."


class FloodSearch:
    """Finds where the floods of one run stopped; keeps the borders of the latest events."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail
        self._border = lru_cache(maxsize=16)(self._make_border)

    def _make_border(self, publication: int) -> FloodBorder:
        return FloodBorder(self.trail, publication)

    def find(self, publication: int, node: int) -> Diagnosis:
        """Return the most frequent cause at the places nearest to `node` where copies of an event stopped."""
        return self._border(publication).explain(node)


class FloodBorder:
    """The nodes at which the copies of one event stopped, and how far the others are from them."""

    def __init__(self, trail: Trail, publication: int) -> None:
        self._trail = trail
        self._publication = publication
        self._holders = trail.holders[publication]
        self._interval = (trail.published[publication], trail.last_sent(publication))
        self._sources: list[int] | None = None
        "The nodes at which copies stopped, once a search has left its first node."
        self._hops: dict[int, int] = {}
        self._nearest: dict[int, int] = {}
        "The nearest sources of each node, as bits."
        self._level: list[int] = []
        self._reasons: dict[int, list[tuple[Cause, str]]] = {}
        "The reasons at a set of sources, by its bits."

    def explain(self, node: int) -> Diagnosis:
        """Return the most frequent cause at the sources nearest to `node`."""
        own = self.find_reasons([node])
        if own:
            return _weigh(own, [])
        if self._sources is None:
            self._find_sources()
        while node not in self._hops and self._level:
            self._expand()
        unheard = f"no node within range of node {node} sent it"
        if node not in self._hops:
            return Diagnosis(Cause.UNEXPLAINED, [unheard])
        hops, bits = self._hops[node], self._nearest[node]
        if bits not in self._reasons:
            sources = [each for place, each in enumerate(self._sources or ()) if bits >> place & 1]
            self._reasons[bits] = self.find_reasons(sources)
        distance = "1 hop" if hops == 1 else f"{hops} hops"
        return _weigh(self._reasons[bits], [unheard, f"{distance} away, it stopped:"])

    def _find_sources(self) -> None:
        """Find the nodes at which copies stopped: they lost one, or are in range of a holder."""
        trail, holders = self._trail, self._holders
        outside = trail.run.nodes - len(holders)
        if outside <= len(holders):
            candidates = set(range(trail.run.nodes))
        else:
            candidates = trail.stops(self._publication).receivers.union(*map(self._around, holders))
        found = sorted(node for node in candidates - holders if self.find_reasons([node]))
        self._sources = self._level = found
        self._hops = dict.fromkeys(found, 0)
        self._nearest = {node: 1 << place for place, node in enumerate(found)}

    def _expand(self) -> None:
        """Visit the next ring around all sources."""
        hops = self._hops[self._level[0]] + 1
        level: dict[int, int] = {}
        for node in self._level:
            for each in self._around(node) - self._holders:
                if each not in self._hops:
                    level[each] = level.get(each, 0) | self._nearest[node]
        self._hops |= dict.fromkeys(level, hops)
        self._nearest |= level
        self._level = list(level)

    def _around(self, node: int) -> frozenset[int]:
        """Return the nodes within range of a node at some time between publication and last transmission."""
        return self._trail.up.neighbours(node, *self._interval)

    def find_reasons(self, ring: list[int]) -> list[tuple[Cause, str]]:
        """Return the causes for which nodes missed the event.

        The frames that they lost count; if there are none, the drops at holders of the event in their range.
        """
        stops = self._trail.stops(self._publication)
        found = [
            (
                FRAME_LOSSES[lost.cause],
                f"t={lost.time:.3f} node {lost.node} lost the frame of node {lost.peer}: {lost.cause}",
            )
            for lost in stops.frame_losses(ring)
        ]
        found += [
            (
                Cause.RETRY_LIMIT,
                f"t={sent.time:.3f} the link from node {sent.node} to node {sent.to} {RETRIES_ENDED}",
            )
            for sent in stops.failures(ring)
        ]
        if found:
            return found
        heard: dict[int, set[int]] = {}
        for node in ring:
            for holder in self._around(node) & self._holders:
                heard.setdefault(holder, set()).add(node)
        return [
            reason
            for holder in sorted(heard)
            for reason in _kept(self._trail, self._publication, holder, heard[holder])
        ]


def _kept(trail: Trail, publication: int, holder: int, inside: set[int]) -> list[tuple[Cause, str]]:
    """Return why none of the nodes `inside`, all in range of a node that had the event, got it from there."""
    stops = trail.stops(publication)
    if holder in stops.copies:
        return _sent_past(trail, stops.copies[holder], inside)
    if holder in stops.ended:
        return [_ended(trail, publication, lost) for lost in stops.ended[holder]]
    outage = trail.outages.during(holder, trail.published[publication], trail.last_sent(publication))
    if outage is not None:
        cause = Cause.PUBLISHER_OFF if holder == trail.publisher(publication) else Cause.RELAY_OFF
        return [(cause, describe(holder, outage))]
    if trail.waits_at_end(publication, holder):
        return [(Cause.UNFINISHED, f"it still waited in the queue of node {holder} at the end of the run")]
    return []


def _sent_past(trail: Trail, copies: list[TrailTransmission], inside: set[int]) -> list[tuple[Cause, str]]:
    """Return why none of the nodes `inside` received the copies that a node sent."""
    last = copies[-1]
    for each in sorted(inside):
        outage = trail.outages.during(each, copies[0].time, last.time)
        if outage is not None:
            return [(Cause.RELAY_OFF, describe(each, outage))]
    if trail.up.neighbours(last.node, last.time, last.time) & inside:
        return []  # a node in range did nothing with the event, and no row records why
    return [(Cause.MOVED_AWAY, f"t={last.time:.3f} node {last.node} sent it with no such node in range")]


def _ended(trail: Trail, publication: int, lost: TrailDrop) -> tuple[Cause, str]:
    cause = DROP_CAUSES[lost.cause]
    if cause is Cause.RELAY_OFF and lost.node == trail.publisher(publication):
        cause = Cause.PUBLISHER_OFF
    return cause, f"t={lost.time:.3f} node {lost.node}: {describe_reason(lost.cause)}"


def _weigh(found: list[tuple[Cause, str]], lead: list[str]) -> Diagnosis:
    """Return the most frequent cause with `MAX_SENTENCES` of its sentences, and the counts of the others."""
    counts = Counter(cause for cause, _ in found)
    cause, times = counts.most_common(1)[0]
    story = [sentence for each, sentence in found if each is cause][:MAX_SENTENCES]
    more = [f"and {times - MAX_SENTENCES} more with this cause"] if times > MAX_SENTENCES else []
    others = [f"also: {other.value} ({count})" for other, count in counts.items() if other is not cause]
    return Diagnosis(cause, [*lead, *story, *more, *others])
