"""Sizes of RAFT-CBR's tables at publisher, subscriber and broker."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf

from roamcast.content.filter import Filter
from roamcast.routing.cbr.raft.broker.ack_aggregation import AckAggregator
from roamcast.routing.cbr.raft.broker.cache import EventCache
from roamcast.routing.cbr.raft.broker.custody import Custody
from roamcast.routing.cbr.raft.publisher.publisher import RaftPublisher
from roamcast.routing.cbr.raft.subscriber.ordered_delivery import OrderedDelivery
from roamcast.routing.cbr.raft.subscriber.subscriber import RaftSubscriber
from roamcast.routing.router import Footprint, Publication
from roamcast.wire.blobs import filter_size


def of_publisher(publishing: RaftPublisher) -> dict[str, Footprint]:
    """Return the sizes of sessions with unacknowledged events, of the events kept for them, and of recent
    events."""
    p, sessions = publishing.parameters, publishing.sessions.values()
    owed = sum(len(session.outstanding) for session in sessions)
    patterns = sum(_patterns(session.patterns) for session in sessions)
    return {
        "subscribers": Footprint(len(sessions), 40 * len(sessions) + 8 * owed + patterns, p.subscribers),
        "kept": _events(
            [publication for _, publication in publishing.events.values()], p.unacknowledged_events
        ),
        "published": _events(
            [publication for _, publication in publishing.log.recent], p.unacknowledged_events
        ),
    }


def of_subscriber(subscribing: RaftSubscriber, ordering: OrderedDelivery) -> dict[str, Footprint]:
    """Return the sizes of the subscription state by publisher, of the streams, and of the reorder buffers."""
    p, subscriptions = subscribing.parameters, subscribing.subscriptions.values()
    patterns = sum(_patterns((*each.advertised, *each.patterns)) for each in subscriptions)
    streams = ordering.streams.values()
    early = [
        waiting.publication
        for stream in streams
        for waiting in (*stream.early.values(), *stream.unplaced.values())
    ]
    return {
        "publishers": Footprint(
            len(subscriptions),
            sum(45 + 12 * len(each.first_sent) for each in subscriptions) + patterns,
            p.publishers,
        ),
        "streams": Footprint(
            len(streams),
            sum(34 + 4 * len(stream.chain) + 8 * len(stream.order) for stream in streams),
            p.publishers,
        ),
        "early": _events(early, p.reorder_buffer * p.publishers),
    }


def of_broker(cache: EventCache, custody: Custody, acks: AckAggregator) -> dict[str, Footprint]:
    """Return the sizes of the event cache, of events in custody, and of acknowledgements being aggregated."""
    most = cache.parameters.cached_events
    passed = [cached for _, cached in cache.events.items(-inf)]
    held = _events([cached.publication for cached in passed], most)
    routes = sum(
        4 * len(cached.chain) + 13 * len(cached.destinations) + 4 * len(cached.acknowledged)
        for cached in passed
    )
    stuck = sum(event.size + 13 * len(nodes) for event, nodes in custody.waiting.values())
    gathered = sum(8 + 4 * len(nodes) for nodes in acks.gathered.values())
    return {
        "cache": held._replace(bytes=held.bytes + routes),
        "custody": Footprint(len(custody.waiting), stuck, most),
        "acks": Footprint(len(acks.gathered), gathered, most),
    }


def _patterns(patterns: Iterable[Filter]) -> int:
    return sum(map(filter_size, patterns))


def _events(publications: Collection[Publication], limit: int) -> Footprint:
    """Return the size of events in their wire encoding, each with a time."""
    return Footprint(len(publications), sum(p.size + 8 for p in publications), limit)
