"""The subscriptions of a broker and of its clients, and their representation in join tables."""

from __future__ import annotations

from collections.abc import Iterable

from roamcast.content.covering import MinimalCover
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.summary.fitting import within
from roamcast.routing.odmrp.pubsub.messages import MOST_FILTERS, BrokerSubscriptions
from roamcast.routing.router import NodeId
from roamcast.wire.blobs import filter_size

VERSIONS = 1 << 16
FINE = BloomShape(1 << 16, 8)
"Shape of a summary of one subscription, large enough that hash collisions are improbable."


class Broker:
    """The minimal set of subscriptions of a broker, with a version number."""

    def __init__(self, node: NodeId, most_bytes: int) -> None:
        self._node = node
        self._most = most_bytes
        self._cover = MinimalCover()
        self.version = 0
        self.filters: tuple[Filter, ...] = ()
        "The smallest set of filters that covers all subscriptions."
        self._summary: Summary | None = None
        self._subscriptions: BrokerSubscriptions | None = None
        self._exact: list[Summary] | None = None

    def set_subscriptions(self, filters: Iterable[Filter]) -> bool:
        """Replace the subscriptions; return whether the minimal set has changed."""
        self._cover.replace_all(filter for filter in filters if not filter.empty)
        minimal = tuple(sorted(self._cover.minimal(), key=hash))  # a filter's hash is the same at every node
        if minimal == self.filters:
            return False
        self.filters = minimal
        self.version = (self.version + 1) % VERSIONS
        self._summary = self._subscriptions = self._exact = None
        return True

    @property
    def summary(self) -> Summary:
        """The summary of all subscriptions."""
        if self._summary is None:
            self._summary = Summary.of(self.filters)
        return self._summary

    @property
    def subscriptions(self) -> BrokerSubscriptions:
        """The subscriptions for a join table: exact filters within the size limit, else a summary."""
        if self._subscriptions is None:
            exact = sum(map(filter_size, self.filters))
            if exact <= self._most and len(self.filters) <= MOST_FILTERS:
                self._subscriptions = BrokerSubscriptions(self._node, self.version, self.filters, b"")
            else:
                self._subscriptions = BrokerSubscriptions(
                    self._node, self.version, (), within(self.filters, self._most).to_bytes()
                )
        return self._subscriptions

    def matches(self, event: Event) -> bool:
        """Return whether a subscription matches an event."""
        return any(filter.matches(event) for filter in self.filters)

    def may_match(self, query: Event | EventDigest | Filter, by_summary: bool) -> bool:
        """Return whether a subscription may match the query of a join request; False is always correct."""
        if isinstance(query, Filter):
            return any(filter.intersects(query) for filter in self.filters)
        if isinstance(query, Event) and not by_summary:
            return self.matches(query)
        return self.summary.admits(query)

    def matches_exactly(self, query: Event | EventDigest | Filter) -> bool:
        """Do the same as `may_match`, without the summary's false positives except hash collisions."""
        if isinstance(query, EventDigest):
            if self._exact is None:
                self._exact = [Summary.of([filter], FINE) for filter in self.filters]
            return any(each.admits(query) for each in self._exact)
        return self.may_match(query, by_summary=False)
