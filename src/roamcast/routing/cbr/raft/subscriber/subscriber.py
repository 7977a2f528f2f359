"""RAFT-CBR at the subscriber: subscriptions sent to each publisher until it acknowledges them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from math import ceil, inf

from roamcast.content.covering import RelationCache
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.routing.cbr.messages import Advert
from roamcast.routing.cbr.raft.messages import (
    EditionAck,
    InterestPeriod,
    Subscribe,
    SubscribeAck,
    elapsed_since,
    version_of,
)
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.subscriber.publisher_subscription import PublisherSubscription
from roamcast.routing.router import Drop, Host, Message, NodeId
from roamcast.routing.state.serials import is_newer

FILTERS_KEPT = 64
PERIODS_KEPT = 64
VERSIONS_KEPT = 16


class RaftSubscriber:
    """Keeps every publisher whose advertisement intersects an interest informed of these interests."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        incarnation: int,
        post: Callable[[Message, NodeId], None],
        *,
        last: Callable[[NodeId], int],
        evict: Callable[[NodeId], None],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.incarnation = incarnation
        self.subscriptions: dict[NodeId, PublisherSubscription] = {}
        "Subscriptions by publisher, the one silent longest first."
        self.interests: dict[Filter, float] = {}
        "The current interests, and since when [s]."
        self._past: deque[tuple[Filter, float, float]] = deque()
        "Past interests: filter, beginning and end [s]."
        self._relations = RelationCache()
        self._post = post
        self._last = last
        self._evict = evict
        self._dirty = False
        self._evicted_version = 0
        "Highest version of an evicted subscription; its publisher may still know it."

    def update_interests(self, interests: Iterable[Filter]) -> None:
        """Replace the interests; simultaneous changes are sent together."""
        now = self.host.now()
        patterns = {pattern: self.interests.get(pattern, now) for pattern in interests}
        for pattern, began in self.interests.items():
            if pattern not in patterns:
                self._remember(pattern, began, now)
        self.interests = patterns
        if not self._dirty:
            self._dirty = True
            self.host.call_later(0.0, self._update_all)

    def _remember(self, pattern: Filter, began: float, ended: float) -> None:
        """Store a past period; when the oldest is evicted, the next period of its filter is extended to its
        beginning."""
        self._past.append((pattern, began, ended))
        if len(self._past) <= PERIODS_KEPT:
            return
        evicted, since, _ = self._past.popleft()
        for place, (other, _, until) in enumerate(self._past):
            if other == evicted:
                self._past[place] = (other, since, until)
                return

    def hear(self, advert: Advert) -> None:
        """Handle an advertisement: a new publisher, a new filter, or a publisher that has lost its memory."""
        subscription = self.subscriptions.pop(advert.publisher, None) or self._meet(
            advert.publisher, advert.incarnation
        )
        self.subscriptions[advert.publisher] = subscription
        subscription.heard_at = now = self.host.now()
        if subscription.incarnation != advert.incarnation:
            subscription.incarnation, subscription.serial = advert.incarnation, 0
            subscription.understood = -inf
            if subscription.version:
                subscription.acknowledged = False
        if not subscription.serial or (
            advert.serial != subscription.serial and is_newer(advert.serial, subscription.serial)
        ):
            subscription.serial, subscription.serial_at = advert.serial, now
            if subscription.waits:
                self._send(advert.publisher, subscription)
        if advert.pattern is not subscription.latest_advertised:
            subscription.latest_advertised = advert.pattern
            if advert.pattern not in subscription.advertised and len(subscription.advertised) < FILTERS_KEPT:
                subscription.advertised[advert.pattern] = None
                self._update_publisher(advert.publisher, subscription)
        if not subscription.acknowledged:
            self._schedule_retry(advert.publisher, subscription)

    def hear_event(self, publisher: NodeId, sequence: int, published: float) -> None:
        """Record an event of a publisher; a later subscription refers to it, to bound its own travel time."""
        subscription = self.subscriptions.get(publisher)
        if subscription is not None and (subscription.event < 0 or is_newer(sequence, subscription.event)):
            subscription.event, subscription.event_at = sequence, published
            if subscription.waits and published + self.parameters.expire > self.host.now():
                self._send(publisher, subscription)

    def announce_incarnation(self, publisher: NodeId) -> None:
        """Send a first subscription to a publisher that addresses an earlier incarnation of this node."""
        subscription = self.subscriptions.get(publisher)
        if subscription is None:
            subscription = self.subscriptions[publisher] = self._meet(publisher, 0)
            subscription.heard_at = self.host.now()
        if not subscription.version:
            self._count_version(subscription)
            self._send(publisher, subscription, at_once=True)

    def acknowledge(self, message: SubscribeAck | EditionAck) -> Drop | None:
        """Handle the acknowledgement of a subscription; return the drop reason if it is outdated."""
        subscription = self.subscriptions.get(message.publisher)
        if subscription is None or message.incarnation != self.incarnation:
            return Drop.EXPIRED
        if subscription.incarnation != message.publisher_incarnation:
            subscription.incarnation, subscription.serial = message.publisher_incarnation, 0
        if message.version != version_of(self.incarnation, subscription.version) or subscription.acknowledged:
            return Drop.DUPLICATE
        subscription.acknowledged = True
        subscription.understood = subscription.sent_at
        subscription.unsure_since = inf
        if subscription.timer is not None:
            subscription.timer.cancel()
        return None

    def knows(self, publisher: NodeId) -> bool:
        """Return whether this incarnation has sent a subscription to `publisher`."""
        subscription = self.subscriptions.get(publisher)
        return subscription is not None and subscription.version > 0

    def has_sent(self, publisher: NodeId, version: int) -> bool:
        """Return whether this incarnation has sent `version` to `publisher`."""
        subscription = self.subscriptions.get(publisher)
        none = version_of(self.incarnation, 0)
        return subscription is not None and none < version <= none + subscription.version

    def known_until(self, publisher: NodeId) -> float:
        """Return the time [s] up to which a publisher surely knew all interests; retry the subscription if it
        may not."""
        subscription = self.subscriptions[publisher]
        if subscription.unsure_since < inf:
            subscription.heard_at = self.host.now()
            self._schedule_retry(publisher, subscription)
        return subscription.unsure_since

    def was_subscribed(self, event: Event, earliest: float, latest: float) -> bool:
        """Return whether an interest in `event` existed at some time between `earliest` and `latest` [s]."""
        return any(
            began <= latest and pattern.matches(event) for pattern, began in self.interests.items()
        ) or any(
            began <= latest and ended >= earliest and pattern.matches(event)
            for pattern, began, ended in self._past
        )

    def first_sent(self, publisher: NodeId, version: int) -> float:
        """Return when `version` was first sent to `publisher` [s]; -inf if this is no longer known."""
        subscription = self.subscriptions.get(publisher)
        return -inf if subscription is None else subscription.first_sent.get(version, -inf)

    def subscribed(self, event: Event, published: float) -> bool:
        """Return whether this node had an interest in an event at `published` or up to `recall` before; True
        if no longer known."""
        if len(self._past) == PERIODS_KEPT or any(pattern.matches(event) for pattern in self.interests):
            return True
        since = published - self.parameters.recall if self.parameters.recall else -inf
        return any(ended >= since and pattern.matches(event) for pattern, _, ended in self._past)

    def correct(self, publisher: NodeId) -> None:
        """Send the interests in a new version to a publisher that has wrong ones."""
        subscription = self.subscriptions[publisher]
        if subscription.acknowledged:
            self._count_version(subscription)
            self._send(publisher, subscription)

    def _count_version(self, subscription: PublisherSubscription) -> None:
        """Advance to a version that the publisher cannot know, even if an earlier entry was evicted."""
        subscription.version = max(subscription.version, self._evicted_version) + 1

    def _schedule_retry(self, publisher: NodeId, subscription: PublisherSubscription) -> None:
        if not subscription.acknowledged and (subscription.timer is None or not subscription.timer.active):
            self._send(publisher, subscription)

    def _meet(self, publisher: NodeId, incarnation: int) -> PublisherSubscription:
        if len(self.subscriptions) >= self.parameters.publishers:
            evicted = next(iter(self.subscriptions))
            silent = self.subscriptions.pop(evicted)
            self._evict(evicted)
            self._evicted_version = max(self._evicted_version, silent.version)
            if silent.timer is not None:
                silent.timer.cancel()
        return PublisherSubscription(incarnation)

    def _update_all(self) -> None:
        self._dirty = False
        for publisher, subscription in self.subscriptions.items():
            self._update_publisher(publisher, subscription)

    def _advertised(self, subscription: PublisherSubscription, pattern: Filter) -> bool:
        return any(self._relations.intersects(advertised, pattern) for advertised in subscription.advertised)

    def _missed(self, subscription: PublisherSubscription) -> list[tuple[Filter, float, float]]:
        """Return the recent interests in the publisher's events that it may never have known."""
        since = self._covered_since(subscription)
        return [past for past in self._past if past[2] >= since and self._advertised(subscription, past[0])]

    def _covered_since(self, subscription: PublisherSubscription) -> float:
        """Return since when [s] the record of interests that a publisher may not know is complete."""
        since = max(subscription.understood, self.host.now() - self.parameters.recall)
        return max(since, self._past[0][2]) if len(self._past) == PERIODS_KEPT else since

    def _update_publisher(self, publisher: NodeId, subscription: PublisherSubscription) -> None:
        """Send a new version to `publisher` if the interests that concern it have changed."""
        patterns = tuple(pattern for pattern in self.interests if self._advertised(subscription, pattern))
        if patterns != subscription.patterns or (not subscription.version and self._missed(subscription)):
            # Without recall no event is inserted between others, so none need be buffered.
            late = set(patterns).difference(subscription.patterns) if self.parameters.recall else ()
            for pattern in late:
                subscription.unsure_since = min(subscription.unsure_since, self.interests[pattern])
            if (
                self.parameters.retract
                and self.parameters.recall
                and set(subscription.patterns).difference(patterns)
            ):
                subscription.unsure_since = min(subscription.unsure_since, self.host.now())
            subscription.patterns = patterns
            self._count_version(subscription)
            self._send(publisher, subscription)

    def _send(self, publisher: NodeId, subscription: PublisherSubscription, *, at_once: bool = False) -> None:
        """Send the subscription, and repeat it until it is acknowledged or the publisher's lease expires.

        After an outage it waits up to a renewal for an advertisement or a new event, unless `at_once`: with
        an old reference all events published during the outage would be doubtful.
        """
        subscription.acknowledged = False
        if subscription.timer is not None:
            subscription.timer.cancel()
        now, p = self.host.now(), self.parameters
        known_at = max(subscription.serial_at, subscription.event_at)
        subscription.waits = bool(p.recall) and known_at + p.expire <= now and not at_once
        if subscription.waits:
            subscription.timer = self.host.call_later(p.renew, self._retry, publisher, subscription)
            return
        subscription.sent_at = now
        version = version_of(self.incarnation, subscription.version)
        subscription.first_sent.setdefault(version, now)
        if len(subscription.first_sent) > VERSIONS_KEPT:
            del subscription.first_sent[next(iter(subscription.first_sent))]
        # Round up, so that no period appears shorter than it was.
        periods = [
            InterestPeriod(pattern, ceil(1000 * (now - self.interests.get(pattern, now))), 0)
            for pattern in subscription.patterns
        ]
        for pattern, began, ended in self._missed(subscription):
            end = int(1000 * (now - ended)) or 1
            periods.append(InterestPeriod(pattern, max(ceil(1000 * (now - began)), end), end))
        message = Subscribe(
            self.host.node,
            self.incarnation,
            version,
            self._last(publisher),
            subscription.incarnation,
            subscription.serial,
            tuple(periods),
            subscription.event,
            elapsed_since(self._covered_since(subscription), now),
        )
        self._post(message, publisher)
        spread = self.host.random.uniform(0.75, 1.25)
        subscription.timer = self.host.call_later(
            spread * p.subscribe_retry, self._retry, publisher, subscription
        )

    def _retry(self, publisher: NodeId, subscription: PublisherSubscription) -> None:
        if subscription.acknowledged or self.subscriptions.get(publisher) is not subscription:
            return
        if subscription.heard_at + self.parameters.expire > self.host.now():
            self._send(publisher, subscription, at_once=True)
