"""Routers that break one law each, and the history in which they do."""

import msgspec

from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.flooding import Flood, Flooding
from roamcast.routing.router import DeliveryGuarantee, Drop, Footprint, ProtocolTraits, Publication
from roamcast.testing.links import LinkModel
from roamcast.testing.swarm.history import (
    AdvertiseStep,
    History,
    Note,
    PublishStep,
    SubscribeStep,
)

LINE = ((0, 1), (1, 2))


def story(*more):
    """Three nodes in a line; the first publishes, the last wants it, the one between does not."""
    steps = [
        AdvertiseStep(at=1.0, node=0, zones=(0, 4)),
        SubscribeStep(at=2.0, node=2, zones=(0, 4)),
        *(PublishStep(at=5.0 + number, node=0, zone=number % 5) for number in range(6)),
        *more,
    ]
    return History(
        seed=1,
        protocol="broken",
        nodes=3,
        edges=LINE,
        healed=LINE,
        links=LinkModel(),
        end=20.0,
        steps=tuple(sorted(steps, key=lambda step: step.at)),
    )


class Raises(Flooding):
    def receive(self, message, sender, signal):
        if message.publication.event["zone"] == 3:
            raise KeyError("zone 3")
        return super().receive(message, sender, signal)


class NeverForgetsToRepeat(Flooding):
    def receive(self, message, sender, signal):
        for _ in range(2):
            self.host.call_later(0.01, self.host.broadcast, message)


class GoesToAndFro(Flooding):
    """Its frames do not multiply, and have no end."""

    def receive(self, message, sender, signal):
        if {sender, self.host.node} == {0, 1}:
            self.host.broadcast(message)
        return Drop.DUPLICATE


class TellsEveryone(Flooding):
    """Each node has something new every period, and everyone repeats it: many frames, and no storm."""

    period = 1.0

    def start(self):
        self.count = 0
        self.host.call_later(self.period, self.tell)

    def tell(self):
        self.count += 1
        result = Publication(self.host.node, 2**31 + self.count, Note(zone=9))
        self.seen.add(result.id)
        self.host.broadcast(Flood(result))
        self.host.call_later(self.period, self.tell)


class TellsTooOften(TellsEveryone):
    period = 0.25


class DependsOnItsAddress(Flooding):
    def publish(self, publication):
        self.host.call_later(id(self) % 9973 / 1e4, super().publish, publication)


class SendsAfterDeath(Flooding):
    def publish(self, publication):
        super().publish(publication)
        later = self.host.now() + 6
        self.host._mesh.call_at(later, self.host.broadcast, Flood(publication))


class HasAClockOfItsOwn(Flooding):
    def start(self):
        self.host.call_later(1.0, self.tick)

    def tick(self):
        self.host.broadcast(Flood(Publication(self.host.node, 77, Note(zone=9))))
        if self.host.now() < 400:
            self.host._mesh.call_at(self.host.now() + 5, self.tick)


class AnswersTrue(Flooding):
    def receive(self, message, sender, signal):
        return super().receive(message, sender, signal) is not None


class LosesSilently(Flooding):
    def receive(self, message, sender, signal):
        if message.publication.event["zone"] == 3:
            return None
        return super().receive(message, sender, signal)


class GrowsWithoutBound(Flooding):
    def tables(self):
        return {"seen": Footprint(len(self.seen), 8 * len(self.seen), 4)}


class DeliversItsDreams(Flooding):
    def publish(self, publication):
        super().publish(publication)
        self.host.deliver(Publication(9, 9, Note(zone=0)))


class DeliversAnotherEvent(Flooding):
    def matches(self, event):
        return False

    def receive(self, message, sender, signal):
        answer = super().receive(message, sender, signal)
        if answer is None and self.interests:
            self.host.deliver(msgspec.structs.replace(message.publication, event=Note(zone=4)))
        return answer


class DeliversUnwanted(Flooding):
    def matches(self, event):
        return True


class DeliversTwice(Flooding):
    def receive(self, message, sender, signal):
        answer = super().receive(message, sender, signal)
        if answer is None and self.matches(message.publication.event):
            self.host.call_later(0.5, self.host.deliver, message.publication)
        return answer


class SaysThatItIsOrdered(Flooding):
    @classmethod
    def traits(cls, parameters):
        return ProtocolTraits(ordered=True)

    def receive(self, message, sender, signal):
        if self.interests and message.publication.event["zone"] == 2 and message.publication.id != 0:
            if self.seen.add(message.publication.id):
                self.host.call_later(1.5, self.host.deliver, message.publication)
            return Drop.UNWANTED
        return super().receive(message, sender, signal)


class RefusesEverything(Flooding):
    def receive(self, message, sender, signal):
        return Drop.UNWANTED


class DeliversLate(Flooding):
    def receive(self, message, sender, signal):
        self.host.call_later(1.2, super().receive, message, sender, signal)
        return Drop.UNWANTED


class SaysThatItRepeats(Flooding):
    @classmethod
    def traits(cls, parameters):
        return ProtocolTraits(promise=DeliveryGuarantee.UNTIL_ACKNOWLEDGED, recall=600.0)


class SetsTimersWithoutEnd(Flooding):
    def start(self):
        self.host.call_later(1.0, self.again)

    def again(self):
        self.host.call_later(1e-9, self.again)


class GivesUpOnCopies(Flooding):
    """Delivers after a while, unless the same neighbour sends the event again."""

    def receive(self, message, sender, signal):
        publication = message.publication
        waiting = self.__dict__.setdefault("waiting", {})
        if (sender, publication.id) in waiting:
            waiting[sender, publication.id].cancel()
        elif self.seen.add(publication.id):
            self.host.call_later(0.001, self.host.broadcast, message)
            waiting[sender, publication.id] = self.host.call_later(0.1, self.hand_over, publication)
        return Drop.DUPLICATE

    def hand_over(self, publication):
        if self.matches(publication.event):
            self.host.deliver(publication)


class RefusesAfterGaps(Flooding):
    """Delivers no further event of a publisher of which it has missed one."""

    def receive(self, message, sender, signal):
        publication = message.publication
        last = self.__dict__.setdefault("last", {})
        if publication.id in self.seen:
            return Drop.DUPLICATE
        if publication.sequence == last.setdefault(publication.publisher, publication.sequence):
            last[publication.publisher] += 1
            return super().receive(message, sender, signal)
        self.seen.add(publication.id)
        self.host.broadcast(Flood(publication, message.hops + 1))
        return Drop.EXPIRED


class AcceptsRepetitionsOnly(Flooding):
    """Refuses the first copy of an event; the publisher repeats each after 7 s."""

    def publish(self, publication):
        super().publish(publication)
        self.host.call_later(7.0, self.host.broadcast, Flood(publication))

    def receive(self, message, sender, signal):
        refused = self.__dict__.setdefault("refused", set())
        if message.publication.id not in refused:
            refused.add(message.publication.id)
            return Drop.UNWANTED
        return super().receive(message, sender, signal)


class HoldsEvents(Flooding):
    """Sends each event 7 s after its publication."""

    def publish(self, publication):
        self.host.call_later(7.0, super().publish, publication)


class HoldsEventsAndSaysThatItRepeats(HoldsEvents, SaysThatItRepeats):
    """Declares sessions, and repeats nothing."""


class LosesItsRoutes(Flooding):
    """A relay drops every event after the first twelve for want of a route."""

    def receive(self, message, sender, signal):
        if not self.interests and message.publication.sequence > 12:
            return Drop.NO_ROUTE
        return super().receive(message, sender, signal)


class IgnoresItsEvents(RaftCbr):
    """Neither delivers nor drops the events that are addressed to it."""

    def __init__(self, host, parameters=None):
        super().__init__(host, parameters)
        self.ordering.handle = lambda *event: None
