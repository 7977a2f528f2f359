"""What a publisher asks about in its join requests, and whether an event has been asked about."""

from __future__ import annotations

from roamcast.content.codec import encode_event
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.summary import Digest
from roamcast.routing.odmrp.pubsub.messages import MOST_ASKS
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters

REMEMBERED = 1024
NEVER = float("-inf")


class Asking:
    """The questions of one publisher."""

    def __init__(self, parameters: PubSubParameters) -> None:
        self._parameters = parameters
        self.offered: list[Filter] = []
        self._offered_at = NEVER
        "When a join request last asked about the advertisement."
        self._asked: dict[Event, float] = {}
        "When one last asked about each event; the latest last."

    def offer(self, offered: Filter) -> None:
        """Advertise one more, which nobody has been asked about yet."""
        self.offered.append(offered)
        self._offered_at = NEVER

    def covers(self, event: Event, now: float) -> bool:
        """Whether whoever may want an event has lately been asked, and has not been forgotten since."""
        since = now - self._parameters.timeout / 2
        if self._asked.get(event, NEVER) > since:
            return True
        return self._offered_at > since and self._is_offered(event)

    def ask(self, event: Event | None, aboard: bool, now: float) -> tuple[Event | Digest | Filter, ...]:
        """The questions of a join request that is sent now, for an event that may be aboard."""
        found: list[Event | Digest | Filter] = []
        if self._parameters.asks == "advertisement" and self.offered:
            found += self.offered[:MOST_ASKS]
            self._offered_at = now
        if event is not None:
            if not aboard and not (found and self._is_offered(event)):
                found.append(self._smaller(event))
            if self._parameters.asks == "batch":
                latest = [each for each in reversed(self._asked) if each != event]
                found += [self._smaller(each) for each in latest[: self._parameters.batch - 1]]
                for each in latest[: self._parameters.batch - 1]:
                    self._asked[each] = now
            self._asked.pop(event, None)
            self._asked[event] = now
            while len(self._asked) > REMEMBERED:
                del self._asked[next(iter(self._asked))]
        return tuple(found[:MOST_ASKS])

    def note(self, event: Event) -> None:
        """Remember an event that went without a question, for the next join request to ask about."""
        if self._parameters.asks == "batch" and event not in self._asked:
            self._asked[event] = NEVER

    def _is_offered(self, event: Event) -> bool:
        return any(offer.matches(event) for offer in self.offered[:MOST_ASKS])

    def _smaller(self, event: Event) -> Event | Digest:
        digest = Digest.of(event)
        if self._parameters.digest == "smaller" and len(encode_event(event)) <= len(digest.to_bytes()):
            return event
        return digest
