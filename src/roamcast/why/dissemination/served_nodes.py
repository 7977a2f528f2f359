"""Explain losses at nodes for which another node subscribes and receives.

The event is sent to the serving node first, and from there to the nodes that wait for it. So the search
checks whether the server had the event; if it had, what it did with it, and otherwise what happened to its
copy or to the subscription.
"""

from __future__ import annotations

from bisect import bisect_left

from roamcast.why.causes import DROP_CAUSES, LINK_DROPS, RETRIES_ENDED, Cause, Diagnosis, describe_reason
from roamcast.why.dissemination.copies import describe_drops
from roamcast.why.dissemination.reverse_path import dropped_at
from roamcast.why.trail.context import SubscriptionPeriod
from roamcast.why.trail.trail import Trail, TrailDrop, TrailTransmission

TRAVEL = 2.0
"A subscription that is forwarded without waiting has arrived or is lost after this time [s]."


def follow_service(trail: Trail, publication: int, node: int, period: SubscriptionPeriod) -> Diagnosis:
    """Return why `node` did not receive an event through the node that serves it."""
    published = trail.published[publication]
    server = trail.server(node, published)
    by = "itself" if server == node else f"node {server}"
    if server in trail.holders[publication]:
        verdict = _handed_on(trail, publication, node, server)
    else:
        verdict = (
            _lost_copy(trail, publication, server)
            or _dropped_subscription(trail, publication, server, period)
            or _unsent_subscription(trail, publication, node, server, period)
        )
    return Diagnosis(verdict.cause, [f"t={published:.3f} node {node} was served by {by}", *verdict.story])


def _handed_on(trail: Trail, publication: int, node: int, server: int) -> Diagnosis:
    """Return what the server did with an event that it had."""
    copies = [sent for sent in trail.sent.get(publication, []) if sent.node == server]
    drop = dropped_at(trail, publication, server)
    if drop is not None and drop.cause in DROP_CAUSES and (not copies or drop.time > copies[-1].time):
        return Diagnosis(
            DROP_CAUSES[drop.cause], [f"t={drop.time:.3f} node {server}: {describe_reason(drop.cause)}"]
        )
    for copy in copies:
        if copy.failed:
            sentence = f"t={copy.time:.3f} the link from node {server} to node {copy.to} {RETRIES_ENDED}"
            return Diagnosis(Cause.RETRY_LIMIT, [sentence])
    if copies:
        named = ", ".join(str(to) for to in sorted({copy.to for copy in copies if copy.to >= 0})[:6])
        return Diagnosis(
            Cause.NOT_MEANT, [f"node {server} forwarded it to nodes {named}, but not to node {node}"]
        )
    return Diagnosis(Cause.UNEXPLAINED, [f"node {server} had it, and no row records what it did with it"])


def _lost_copy(trail: Trail, publication: int, server: int) -> Diagnosis | None:
    """Return what happened to the copy for the server; None if no row concerns one."""
    for lost in reversed(trail.lost.get(publication, [])):
        if lost.peer == server and lost.cause in DROP_CAUSES:
            return Diagnosis(DROP_CAUSES[lost.cause], [f"{_describe(lost)}; the copy was for node {server}"])
    for sent in reversed(trail.sent.get(publication, [])):
        if sent.to == server and sent.failed:
            sentence = f"t={sent.time:.3f} the link from node {sent.node} to node {server} {RETRIES_ENDED}"
            return Diagnosis(Cause.RETRY_LIMIT, [sentence])
    return None


def _dropped_subscription(
    trail: Trail, publication: int, server: int, period: SubscriptionPeriod
) -> Diagnosis | None:
    """Return where a subscription of the server was dropped; None if no row records that.

    A drop before the last subscription that the server sent in time explains nothing: it was sent again.
    """
    publisher, published = trail.publisher(publication), trail.published[publication]
    sent = _subscriptions_in(trail, server, period)
    in_time = [each.time for each in sent if not each.failed and each.time <= published]
    since, until = (in_time[-1], published) if in_time else (period.since, period.until)
    rows = trail.dropped_subscriptions[bisect_left(trail.dropped_subscriptions, (since,)) :]
    refused = [lost for lost in rows if lost.time <= until and lost.cause in DROP_CAUSES]
    for lost in refused:
        if lost.node == server:
            return Diagnosis(DROP_CAUSES[lost.cause], [f"{_describe(lost)}, for a subscription"])
    for lost in refused:
        if lost.peer == publisher and any(0 <= lost.time - each.time <= TRAVEL for each in sent):
            detail = f"for a subscription to node {publisher}, just after node {server} sent one"
            return Diagnosis(DROP_CAUSES[lost.cause], [f"{_describe(lost)}, {detail}"])
    return None


def _unsent_subscription(
    trail: Trail, publication: int, node: int, server: int, period: SubscriptionPeriod
) -> Diagnosis:
    """Return which node sent no subscription, or sent it too late."""
    own, sent = _subscriptions_in(trail, node, period), _subscriptions_in(trail, server, period)
    if server != node and all(each.failed for each in own):
        if not own:
            return Diagnosis(Cause.NO_PARENT, [f"node {node} sent no subscription"])
        link = f"t={own[0].time:.3f} the link from node {node} to node {own[0].to}"
        return Diagnosis(Cause.RETRY_LIMIT, [f"{link} {RETRIES_ENDED} for the subscription"])
    if not sent:
        return Diagnosis(Cause.NO_PARENT, [f"node {server} sent no subscription to a provider"])
    if all(each.time > trail.published[publication] for each in sent):
        later = f"t={sent[0].time:.3f} node {server} sent the subscription, after the event was published"
        return Diagnosis(Cause.NOT_YET_KNOWN, [later])
    searches = [each for each in trail.sent.get(publication, []) if each.to < 0]
    if searches:
        sentence = (
            f"t={searches[0].time:.3f} node {searches[0].node} broadcast it to find a node that had moved"
        )
        return Diagnosis(Cause.MOVED_AWAY, [sentence])
    return _ended_copies(trail, publication, server) or Diagnosis(
        Cause.UNEXPLAINED, [f"node {server} sent the subscription; no row records what happened to it"]
    )


def _ended_copies(trail: Trail, publication: int, server: int) -> Diagnosis | None:
    """Return the cause for which copies ended, if it is the same for all that may have been the server's.

    A router's drop at the publisher names the destination of the copy; a drop of the link names the next hop.
    """
    ends = [
        lost
        for lost in trail.lost.get(publication, [])
        if lost.cause in DROP_CAUSES
        and (
            lost.cause in LINK_DROPS or lost.node != trail.publisher(publication) or lost.peer in (-1, server)
        )
    ]
    causes = {DROP_CAUSES[lost.cause] for lost in ends}
    if len(causes) != 1:
        return None
    sent = f"node {server} sent the subscription, and no copy reached it"
    return Diagnosis(causes.pop(), [sent, *describe_drops(trail, publication, ends)])


def _subscriptions_in(trail: Trail, node: int, period: SubscriptionPeriod) -> list[TrailTransmission]:
    """Return the subscription messages that a node sent during a subscription period."""
    return [each for each in trail.subscriptions.get(node, []) if period.since <= each.time <= period.until]


def _describe(lost: TrailDrop) -> str:
    return f"t={lost.time:.3f} node {lost.node}: {describe_reason(lost.cause)}"
