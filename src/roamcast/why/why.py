"""Why an event was not delivered to someone who wanted it, told from the facts.

On a tree the question climbs: who had the missing node told of its wish, did that node send the event,
and if it never had it, whom had it told in turn. Where nothing climbs (flooding), what was lost at the
node itself and who stood near enough must do.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from roamcast.why.trail import LINK_LOSSES, Lost, Sent, Trail, Wanting

CLIMBS = 32


class Cause(Enum):
    """Where an event was lost; the value is how a person would say it."""

    UNREACHABLE = "no path to the subscriber existed until the end of the run"
    APART = "no path to the subscriber existed when the event was published"
    ASKED_LATE = "no path could have brought the subscription to the publisher in time"
    NOT_YET_KNOWN = "the subscription was still on its way when the event was published"
    UNWANTED = "a node on the way knew nobody who wanted it"
    LAPSED = "a subscription had lapsed"
    NO_PARENT = "a node had told nobody nearer to the publisher what it wants"
    NO_ROUTE = "a node knew no route"
    COLLIDED = "a frame was lost to a collision"
    DEAF = "a frame came while the receiver was sending"
    MOVED_AWAY = "a node had moved out of its parent's range"
    RETRY_LIMIT = "a link gave up"
    QUEUE_FULL = "a queue was full"
    CHANGED = "it arrived, but was no longer wanted"
    UNFINISHED = "it was still on its way at the end"
    UNHEARD = "nobody within range sent it"
    UNEXPLAINED = "the facts do not tell"


_LINK = {"collided": Cause.COLLIDED, "captured": Cause.COLLIDED, "deaf": Cause.DEAF, "weak": Cause.COLLIDED}
_ROUTER = {
    "unwanted": Cause.UNWANTED,
    "expired": Cause.LAPSED,
    "no_route": Cause.NO_ROUTE,
    "queue_full": Cause.QUEUE_FULL,
    "retry_limit": Cause.RETRY_LIMIT,
}


class Verdict(NamedTuple):
    """A cause, and the sentences that lead to it."""

    cause: Cause
    story: list[str]


class Explainer:
    """Answers for one run."""

    def __init__(self, trail: Trail) -> None:
        self.trail = trail
        parameters = trail.run.parameters
        self.life = float(parameters.get("expire", 15.0))
        self.recall = float(parameters.get("recall", 0.0))
        self.patient = "ping_wait" in parameters
        "Whether the protocol tries until the end."

    def explain(self, publication: int, node: int) -> Verdict:
        """Why `node` did not get an event."""
        trail = self.trail
        publisher, time = trail.publisher(publication), trail.published[publication]
        wanting = self.wanting(publication, node)
        if not trail.reach.meets(publisher, node, time, trail.run.duration):
            return Verdict(
                Cause.UNREACHABLE,
                [f"no path led from node {publisher} to node {node} from t={time:.1f} to the end of the run"],
            )
        if self.patient:
            return self._explain_patient(publication, node, wanting)
        here = self._let_go(publication, node)
        if here is not None and here.cause in ("unwanted", "expired"):
            return Verdict(
                Cause.CHANGED, [f"t={here.time:.3f} it reached node {node}, which no longer wanted it"]
            )
        if not trail.reach.together(publisher, node, time):
            return Verdict(
                Cause.APART,
                [f"t={time:.1f} node {publisher} and node {node} were in parts of the network apart"],
            )
        if trail.asked:
            return self._climb(publication, node, set())
        return self._look_around(publication, node)

    def wanting(self, publication: int, node: int) -> Wanting | None:
        """Since when the node had wanted something when an event was published."""
        time = self.trail.published[publication]
        found = [w for w in self.trail.wanting.get(node, []) if w.since <= time <= w.until]
        return max(found, key=lambda w: w.since, default=None)

    def _let_go(self, publication: int, node: int) -> Lost | None:
        """What a node's router or queue did with an event, other than sending it."""
        for lost in self.trail.lost.get(publication, []):
            if lost.node == node and lost.cause in _ROUTER and lost.kind not in ("Ack", "Nack", "EventAck"):
                return lost
        return None

    # Trees.

    def _climb(self, publication: int, node: int, seen: set[int]) -> Verdict:
        trail = self.trail
        publisher = trail.publisher(publication)
        seen.add(node)
        copies = trail.sent.get(publication, [])
        time = trail.published[publication]
        parents = [
            (when, parent) for when, parent in trail.parents(node, time, self.life) if parent not in seen
        ]
        if not parents:
            return self._without_parent(node, time)
        verdict: Verdict | None = None
        for when, parent in parents:
            of_parent = [sent for sent in copies if sent.node == parent]
            if of_parent:
                return self._between(publication, node, parent, of_parent, when)
        for when, parent in parents:
            told = f"node {node} had told node {parent} at t={when:.1f} what it wants"
            here = self._let_go(publication, parent)
            if here is not None:
                cause = _ROUTER[here.cause]
                verdict = Verdict(cause, [told, f"t={here.time:.3f} node {parent}: {_said(here)}"])
            elif parent == publisher:
                verdict = Verdict(Cause.UNEXPLAINED, [told, f"node {parent} did not send it"])
            elif len(seen) < CLIMBS:
                above = self._climb(publication, parent, seen)
                verdict = Verdict(above.cause, [told, f"node {parent} never had it", *above.story])
            if verdict is not None:
                return verdict
        return Verdict(Cause.UNEXPLAINED, [])

    def _between(
        self, publication: int, node: int, parent: int, copies: list[Sent], told_at: float
    ) -> Verdict:
        """The parent sent it and the node did not get it."""
        trail = self.trail
        story = [f"t={sent.time:.3f} node {parent} sent it ({sent.kind})" for sent in copies[:3]]
        for lost in trail.lost.get(publication, []):
            if lost.node == node and lost.peer == parent and lost.cause in LINK_LOSSES:
                return Verdict(
                    _LINK[lost.cause], [*story, f"t={lost.time:.3f} node {node} lost the frame: {lost.cause}"]
                )
        last = copies[-1].time
        distance = trail.reach.distance(node, parent, last)
        if distance > trail.reach.range - trail.reach.edge:
            return Verdict(
                Cause.MOVED_AWAY,
                [*story, f"node {node} was {distance:.0f} m away, out of range of node {parent}"],
            )
        since = last - told_at
        return Verdict(
            Cause.LAPSED,
            [*story, f"it was not meant for node {node}, whose wish it had last heard {since:.1f} s before"],
        )

    def _without_parent(self, node: int, time: float) -> Verdict:
        asked = [s for s in self.trail.asked.get(node, []) if time - self.life <= s.time <= time]
        if asked:
            last = asked[-1]
            return Verdict(
                Cause.RETRY_LIMIT,
                [f"t={last.time:.3f} the link gave up on the subscription of node {node} to node {last.to}"],
            )
        return Verdict(
            Cause.NO_PARENT,
            [f"node {node} had told nobody what it wants in the {self.life:g} s before t={time:.1f}"],
        )

    # Everything else.

    def _look_around(self, publication: int, node: int) -> Verdict:
        trail = self.trail
        for lost in trail.lost.get(publication, []):
            if lost.node == node and lost.cause in LINK_LOSSES:
                return Verdict(
                    _LINK[lost.cause],
                    [f"t={lost.time:.3f} node {node} lost the frame of node {lost.peer}: {lost.cause}"],
                )
        failed = [s for s in trail.sent.get(publication, []) if s.failed and s.to == node]
        if failed:
            last = failed[-1]
            return Verdict(
                Cause.RETRY_LIMIT,
                [f"t={last.time:.3f} the link from node {last.node} to node {node} gave up"],
            )
        for lost in trail.lost.get(publication, []):
            if lost.cause in _ROUTER:
                return Verdict(_ROUTER[lost.cause], [f"t={lost.time:.3f} node {lost.node}: {_said(lost)}"])
        holders = {sent.node for sent in trail.sent.get(publication, [])}
        for lost in reversed(trail.lost.get(publication, [])):
            if lost.cause in LINK_LOSSES and lost.node not in holders:
                loss = f"t={lost.time:.3f} node {lost.node} lost the frame of node {lost.peer}: {lost.cause}"
                return Verdict(_LINK[lost.cause], [loss, f"nobody within range of node {node} sent it"])
        return Verdict(Cause.UNHEARD, [f"nobody within range of node {node} sent it"])

    def _explain_patient(self, publication: int, node: int, wanting: Wanting | None) -> Verdict:
        """A protocol that tries until the end misses only what it does not know, or does not finish."""
        trail = self.trail
        publisher, time = trail.publisher(publication), trail.published[publication]
        since = wanting.since if wanting is not None else 0.0
        answered = [t for t in trail.answered.get(node, []) if t >= since]
        if not trail.reach.meets(node, publisher, since, time + self.recall):
            return Verdict(
                Cause.ASKED_LATE,
                [
                    f"node {node} wanted it since t={since:.1f}",
                    f"no path led from node {node} to node {publisher} between then and"
                    f" t={time + self.recall:.1f}",
                ],
            )
        if not answered or answered[0] > time:
            when = f"at t={answered[0]:.1f}" if answered else "never"
            return Verdict(
                Cause.NOT_YET_KNOWN,
                [
                    f"node {node} wanted it {time - since:.1f} s before it was published",
                    f"the publisher's acknowledgement of that came {when}",
                ],
            )
        copies = trail.sent.get(publication, [])
        last = f", the last at t={copies[-1].time:.1f}" if copies else ""
        return Verdict(Cause.UNFINISHED, [f"it was sent {len(copies)} times{last}"])


def _said(lost: Lost) -> str:
    return {
        "unwanted": "no subscription here or beyond matched it",
        "expired": "the subscription that matched it had lapsed",
        "no_route": "no route was known",
        "queue_full": "the link's queue was full",
        "retry_limit": "the link gave up on it",
    }[lost.cause]
