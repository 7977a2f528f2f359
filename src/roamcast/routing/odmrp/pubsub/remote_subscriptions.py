"""Subscriptions of other brokers, as received in join tables: exact filters or a summary."""

from __future__ import annotations

from functools import lru_cache

from roamcast.content.errors import ContentError
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary import Summary
from roamcast.routing.odmrp.pubsub.messages import BrokerSubscriptions


@lru_cache(maxsize=1024)
def read_summary(data: bytes) -> Summary | None:
    """Decode a summary; return None if the bytes are malformed."""
    try:
        return Summary.from_bytes(data)
    except ContentError:
        return None


def is_valid(subscriptions: BrokerSubscriptions) -> bool:
    """Return whether the subscriptions are well-formed: filters or one valid summary, not both."""
    return not subscriptions.summary or (
        not subscriptions.filters and read_summary(subscriptions.summary) is not None
    )


def may_match(subscriptions: BrokerSubscriptions, event: Event) -> bool:
    """Return whether a broker's subscriptions may match an event; False is always correct."""
    if any(filter.matches(event) for filter in subscriptions.filters):
        return True
    summary = read_summary(subscriptions.summary) if subscriptions.summary else None
    return summary is not None and summary.admits(event)


def units(subscriptions: BrokerSubscriptions, types: dict[bytes, EventType]) -> tuple[Filter, ...]:
    """Return the filters to be grouped, of the given event types; a summary yields its covering filters."""
    if not subscriptions.summary:
        return tuple(filter for filter in subscriptions.filters if filter.type.fingerprint in types)
    summary = read_summary(subscriptions.summary)
    if summary is None:
        return ()
    found = (summary.cover(type) for name, type in types.items() if name in summary.rows)
    return tuple(each for each in found if each is not None)
