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
from roamcast.routing.router import Drop, Host, Message, NodeId, Timer
from roamcast.routing.state.serials import is_newer

OFFERS_KEPT = 64
PERIODS_KEPT = 64
VERSIONS_KEPT = 16


class PublisherSubscription:
    """The state of the subscription at one publisher."""

    __slots__ = (
        "acknowledged",
        "event",
        "event_at",
        "first_sent",
        "heard_at",
        "incarnation",
        "latest_offer",
        "offers",
        "patterns",
        "sent_at",
        "serial",
        "serial_at",
        "timer",
        "understood",
        "unsure_since",
        "version",
        "waits",
    )

    def __init__(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.serial = 0
        "Serial of the newest advertisement of that incarnation."
        self.serial_at = -inf
        "When that serial was first received [s]."
        self.event = -1
        "Sequence number of the publisher's latest event received here."
        self.event_at = -inf
        "When that event was published, by its age [s]."
        self.waits = False
        "Whether the next subscription waits for a newer advertisement or event."
        self.offers: dict[Filter, None] = {}
        self.latest_offer: Filter | None = None
        "The filter of the latest advertisement; the next one most often has the same object."
        self.patterns: tuple[Filter, ...] = ()
        self.version = 0
        "Counted within this incarnation; 0 before the first subscription."
        self.acknowledged = True
        self.heard_at = 0.0
        self.sent_at = -inf
        "When the subscription was last sent [s]."
        self.first_sent: dict[int, float] = {}
        "Version -> when it was first sent [s], of the newest versions."
        self.understood = -inf
        "When the last acknowledged version was sent [s]."
        self.unsure_since = inf
        """Time of the first change that the publisher may not know [s]: since then it may have skipped
        matching events."""
        self.timer: Timer | None = None


class RaftSubscriber:
    """Keeps every publisher whose advertisement intersects an interest informed of these interests."""

    def __init__(
        self,
        host: Host,
        parameters: RaftCbrParameters,
        incarnation: int,
        post: Callable[[Message, NodeId], None],
        last: Callable[[NodeId], int],
    ) -> None:
        self.host = host
        self.parameters = parameters
        self.incarnation = incarnation
        self.wishes: dict[NodeId, PublisherSubscription] = {}
        "Subscriptions by publisher, the one silent longest first."
        self.interests: dict[Filter, float] = {}
        "The current interests, and since when [s]."
        self._past: deque[tuple[Filter, float, float]] = deque()
        "Past interests: filter, beginning and end [s]."
        self._relations = RelationCache()
        self._post = post
        self._last = last
        self._dirty = False
        self._evicted_version = 0
        "Highest version of an evicted subscription; its publisher may still know it."

    def update_interests(self, interests: Iterable[Filter]) -> None:
        """Replace the interests; simultaneous changes are sent together."""
        now = self.host.now()
        wanted = {pattern: self.interests.get(pattern, now) for pattern in interests}
        for pattern, began in self.interests.items():
            if pattern not in wanted:
                self._remember(pattern, began, now)
        self.interests = wanted
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
        wish = self.wishes.pop(advert.publisher, None) or self._meet(advert.publisher, advert.incarnation)
        self.wishes[advert.publisher] = wish
        wish.heard_at = now = self.host.now()
        if wish.incarnation != advert.incarnation:
            wish.incarnation, wish.serial = advert.incarnation, 0
            wish.understood = -inf
            if wish.version:
                wish.acknowledged = False
        if not wish.serial or (advert.serial != wish.serial and is_newer(advert.serial, wish.serial)):
            wish.serial, wish.serial_at = advert.serial, now
            if wish.waits:
                self._send(advert.publisher, wish)
        if advert.pattern is not wish.latest_offer:
            wish.latest_offer = advert.pattern
            if advert.pattern not in wish.offers and len(wish.offers) < OFFERS_KEPT:
                wish.offers[advert.pattern] = None
                self._update_publisher(advert.publisher, wish)
        if not wish.acknowledged:
            self._schedule_retry(advert.publisher, wish)

    def hear_event(self, publisher: NodeId, sequence: int, published: float) -> None:
        """Record an event of a publisher; a later subscription refers to it, to bound its own travel time."""
        wish = self.wishes.get(publisher)
        if wish is not None and (wish.event < 0 or is_newer(sequence, wish.event)):
            wish.event, wish.event_at = sequence, published
            if wish.waits and published + self.parameters.expire > self.host.now():
                self._send(publisher, wish)

    def announce_incarnation(self, publisher: NodeId) -> None:
        """Send a first subscription to a publisher that addresses an earlier incarnation of this node."""
        wish = self.wishes.get(publisher)
        if wish is None:
            wish = self.wishes[publisher] = self._meet(publisher, 0)
            wish.heard_at = self.host.now()
        if not wish.version:
            self._count_version(wish)
            self._send(publisher, wish, at_once=True)

    def acknowledge(self, message: SubscribeAck | EditionAck) -> Drop | None:
        """Handle the acknowledgement of a subscription; return the drop reason if it is outdated."""
        wish = self.wishes.get(message.publisher)
        if wish is None or message.incarnation != self.incarnation:
            return Drop.EXPIRED
        if wish.incarnation != message.publisher_incarnation:
            wish.incarnation, wish.serial = message.publisher_incarnation, 0
        if message.version != version_of(self.incarnation, wish.version) or wish.acknowledged:
            return Drop.DUPLICATE
        wish.acknowledged = True
        wish.understood = wish.sent_at
        wish.unsure_since = inf
        if wish.timer is not None:
            wish.timer.cancel()
        return None

    def knows(self, publisher: NodeId) -> bool:
        """Return whether this incarnation has sent a subscription to `publisher`."""
        wish = self.wishes.get(publisher)
        return wish is not None and wish.version > 0

    def has_sent(self, publisher: NodeId, version: int) -> bool:
        """Return whether this incarnation has sent `version` to `publisher`."""
        wish = self.wishes.get(publisher)
        none = version_of(self.incarnation, 0)
        return wish is not None and none < version <= none + wish.version

    def known_until(self, publisher: NodeId) -> float:
        """Return the time [s] up to which a publisher surely knew all interests; retry the subscription if it
        may not."""
        wish = self.wishes[publisher]
        if wish.unsure_since < inf:
            wish.heard_at = self.host.now()
            self._schedule_retry(publisher, wish)
        return wish.unsure_since

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
        wish = self.wishes.get(publisher)
        return -inf if wish is None else wish.first_sent.get(version, -inf)

    def subscribed(self, event: Event, published: float) -> bool:
        """Return whether this node had an interest in an event at `published` or up to `recall` before; True
        if no longer known."""
        if len(self._past) == PERIODS_KEPT or any(pattern.matches(event) for pattern in self.interests):
            return True
        since = published - self.parameters.recall if self.parameters.recall else -inf
        return any(ended >= since and pattern.matches(event) for pattern, _, ended in self._past)

    def correct(self, publisher: NodeId) -> None:
        """Send the interests in a new version to a publisher that has wrong ones."""
        wish = self.wishes[publisher]
        if wish.acknowledged:
            self._count_version(wish)
            self._send(publisher, wish)

    def _count_version(self, wish: PublisherSubscription) -> None:
        """Advance to a version that the publisher cannot know, even if an earlier entry was evicted."""
        wish.version = max(wish.version, self._evicted_version) + 1

    def _schedule_retry(self, publisher: NodeId, wish: PublisherSubscription) -> None:
        if not wish.acknowledged and (wish.timer is None or not wish.timer.active):
            self._send(publisher, wish)

    def _meet(self, publisher: NodeId, incarnation: int) -> PublisherSubscription:
        if len(self.wishes) >= self.parameters.publishers:
            silent = self.wishes.pop(next(iter(self.wishes)))
            self._evicted_version = max(self._evicted_version, silent.version)
            if silent.timer is not None:
                silent.timer.cancel()
        return PublisherSubscription(incarnation)

    def _update_all(self) -> None:
        self._dirty = False
        for publisher, wish in self.wishes.items():
            self._update_publisher(publisher, wish)

    def _offered(self, wish: PublisherSubscription, pattern: Filter) -> bool:
        return any(self._relations.intersects(offer, pattern) for offer in wish.offers)

    def _missed(self, wish: PublisherSubscription) -> list[tuple[Filter, float, float]]:
        """Return the recent interests in the publisher's events that it may never have known."""
        since = self._covered_since(wish)
        return [past for past in self._past if past[2] >= since and self._offered(wish, past[0])]

    def _covered_since(self, wish: PublisherSubscription) -> float:
        """Return since when [s] the record of interests that a publisher may not know is complete."""
        since = max(wish.understood, self.host.now() - self.parameters.recall)
        return max(since, self._past[0][2]) if len(self._past) == PERIODS_KEPT else since

    def _update_publisher(self, publisher: NodeId, wish: PublisherSubscription) -> None:
        """Send a new version to `publisher` if the interests that concern it have changed."""
        wanted = tuple(pattern for pattern in self.interests if self._offered(wish, pattern))
        if wanted != wish.patterns or (not wish.version and self._missed(wish)):
            # Without recall no event is inserted between others, so none need be buffered.
            late = set(wanted).difference(wish.patterns) if self.parameters.recall else ()
            for pattern in late:
                wish.unsure_since = min(wish.unsure_since, self.interests[pattern])
            if self.parameters.retract and self.parameters.recall and set(wish.patterns).difference(wanted):
                wish.unsure_since = min(wish.unsure_since, self.host.now())
            wish.patterns = wanted
            self._count_version(wish)
            self._send(publisher, wish)

    def _send(self, publisher: NodeId, wish: PublisherSubscription, *, at_once: bool = False) -> None:
        """Send the subscription, and repeat it until it is acknowledged or the publisher's lease expires.

        After an outage it waits up to a renewal for an advertisement or a new event, unless `at_once`: with
        an old reference all events published during the outage would be doubtful.
        """
        wish.acknowledged = False
        if wish.timer is not None:
            wish.timer.cancel()
        now, p = self.host.now(), self.parameters
        known_at = max(wish.serial_at, wish.event_at)
        wish.waits = bool(p.recall) and known_at + p.expire <= now and not at_once
        if wish.waits:
            wish.timer = self.host.call_later(p.renew, self._retry, publisher, wish)
            return
        wish.sent_at = now
        version = version_of(self.incarnation, wish.version)
        wish.first_sent.setdefault(version, now)
        if len(wish.first_sent) > VERSIONS_KEPT:
            del wish.first_sent[next(iter(wish.first_sent))]
        # Round up, so that no period appears shorter than it was.
        periods = [
            InterestPeriod(pattern, ceil(1000 * (now - self.interests.get(pattern, now))), 0)
            for pattern in wish.patterns
        ]
        for pattern, began, ended in self._missed(wish):
            end = int(1000 * (now - ended)) or 1
            periods.append(InterestPeriod(pattern, max(ceil(1000 * (now - began)), end), end))
        message = Subscribe(
            self.host.node,
            self.incarnation,
            version,
            self._last(publisher),
            wish.incarnation,
            wish.serial,
            tuple(periods),
            wish.event,
            elapsed_since(self._covered_since(wish), now),
        )
        self._post(message, publisher)
        spread = self.host.random.uniform(0.75, 1.25)
        wish.timer = self.host.call_later(spread * p.subscribe_retry, self._retry, publisher, wish)

    def _retry(self, publisher: NodeId, wish: PublisherSubscription) -> None:
        if wish.acknowledged or self.wishes.get(publisher) is not wish:
            return
        if wish.heard_at + self.parameters.expire > self.host.now():
            self._send(publisher, wish, at_once=True)
