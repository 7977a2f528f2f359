"""Each law is seen to fail on a router that breaks it, and to hold for flooding in the same history."""

import time

import msgspec
import pytest
from broken_routers import (
    AcceptsRepetitionsOnly,
    AnswersTrue,
    DeliversAnotherEvent,
    DeliversItsDreams,
    DeliversLate,
    DeliversTwice,
    DeliversUnwanted,
    DependsOnItsAddress,
    GivesUpOnCopies,
    GoesToAndFro,
    GrowsWithoutBound,
    HasAClockOfItsOwn,
    HoldsEvents,
    HoldsEventsAndSaysThatItRepeats,
    IgnoresItsEvents,
    LosesItsRoutes,
    LosesSilently,
    NeverForgetsToRepeat,
    Raises,
    RefusesAfterGaps,
    RefusesEverything,
    SaysThatItIsOrdered,
    SaysThatItRepeats,
    SendsAfterDeath,
    SetsTimersWithoutEnd,
    TellsEveryone,
    TellsTooOften,
    story,
)
from test_found_raft import HELD

from roamcast.routing.cbr.messages import EventAck
from roamcast.routing.cbr.raft.messages import Ack, Addressee, XcastEvent
from roamcast.routing.flooding import Flood, Flooding
from roamcast.routing.router import Drop, Publication
from roamcast.routing.traits import Dissemination, ProtocolTraits
from roamcast.routing.unicast.dsdv.messages import DsdvEntry, DsdvUpdate
from roamcast.routing.unicast.unicast import Datagram
from roamcast.testing.changes import numbers_of
from roamcast.testing.host import Clock
from roamcast.testing.messages import nodes_named
from roamcast.testing.swarm import recording_mesh
from roamcast.testing.swarm.explore import explore
from roamcast.testing.swarm.history import (
    FaultKind,
    FaultStep,
    ForgeStep,
    LinkRuleStep,
    Note,
    Replay,
    RequestStep,
    SubscribeStep,
    UnsubscribeStep,
    read,
)
from roamcast.testing.swarm.judge import judge, judge_all
from roamcast.testing.swarm.laws import LAWS
from roamcast.testing.swarm.play import play, play_twice
from roamcast.testing.swarm.recording_mesh import TimeUpError
from roamcast.wire.codec import encode

PARTITION = LinkRuleStep(at=6.5, until=8.5, rule="partition", senders=(2,))
REQUEST = RequestStep(at=14.0, node=1, zones=(0, 4))
CRASH = FaultStep(at=12.0, node=0, kind=FaultKind.CRASH)
COPIES = LinkRuleStep(at=0.0, until=60.0, rule="duplicate", seconds=0.05)
LATER = msgspec.structs.replace(story(), later=(COPIES,))


@pytest.mark.parametrize(
    ("law", "router", "history"),
    [
        ("unbroken", Raises, story()),
        ("calm", NeverForgetsToRepeat, story()),
        ("calm", GoesToAndFro, story()),
        ("repeated", DependsOnItsAddress, story()),
        ("alive", SendsAfterDeath, story(CRASH)),
        ("accounted", AnswersTrue, story()),
        ("conserved", LosesSilently, story()),
        ("bounded", GrowsWithoutBound, story()),
        ("published", DeliversItsDreams, story()),
        ("published", DeliversAnotherEvent, story()),
        ("wanted", DeliversUnwanted, story()),
        ("wanted", DeliversUnwanted, story(UnsubscribeStep(at=8.5, node=2, zones=(0, 4)))),
        ("once", DeliversTwice, story()),
        ("ordered", SaysThatItIsOrdered, story()),
        ("promised", RefusesEverything, story()),
        ("promised", RefusesEverything, story(REQUEST, UnsubscribeStep(at=12.0, node=2, zones=(0, 4)))),
        ("acknowledged", SaysThatItRepeats, story(PARTITION)),
        ("timers", SetsTimersWithoutEnd, story()),
        ("undisturbed", GivesUpOnCopies, LATER),
    ],
)
def test_a_law_is_seen_to_be_broken(law, router, history):
    finding = judge(history, router)
    assert finding is not None
    assert finding.law == law
    assert judge(history, Flooding) is None


def test_every_law_that_a_history_breaks_is_told():
    class Rude(DeliversUnwanted, DeliversTwice, GrowsWithoutBound):
        """Breaks several at once."""

    assert [finding.law for finding in judge_all(story(), Rude)] == ["bounded", "wanted", "once"]
    assert judge(story(), Rude) == judge_all(story(), Rude)[0]
    assert judge_all(story(), Flooding) == []


def test_a_clock_of_ones_own_breaks_the_silence():
    record = play(story(), HasAClockOfItsOwn)
    assert "after all nodes had left" in LAWS["silent"](record)
    assert LAWS["silent"](play(story(), Flooding)) is None


@pytest.mark.parametrize(("router", "stormed"), [(TellsEveryone, False), (TellsTooOften, True)])
def test_a_pace_is_no_storm_however_long_it_lasts_and_a_faster_one_is(router, stormed, monkeypatch):
    monkeypatch.setattr(recording_mesh, "MOST_FRAMES", 500)
    record = play(msgspec.structs.replace(story(), end=260.0), router)
    assert record.error is None
    assert (LAWS["calm"](record) is not None) == stormed
    assert len(record.transmissions) > 4 * 500 or stormed


def test_many_timers_over_a_long_time_are_no_endless_timers():
    class Ticks(Flooding):
        def start(self):
            self.host.call_later(0.005, self.start)

    assert judge(msgspec.structs.replace(story(), end=200.0), Ticks) is None


def test_an_event_whose_copy_was_lost_is_owed_to_nobody():
    losses = LinkRuleStep(at=0.0, until=60.0, rule="lose", kinds=(Flood.number,), senders=(1,))
    record = play(msgspec.structs.replace(story(), later=(losses,)), Flooding)
    later = [each for each in record.published if each.time >= record.later_at]
    assert len(later) == 5
    assert not {each.publication.id for each in later} & {got.publication.id for got in record.deliveries}
    assert LAWS["undisturbed"](record) is None


LOST_LATER = msgspec.structs.replace(
    story(), later=(LinkRuleStep(at=0.0, until=60.0, rule="lose", kinds=(Flood.number,)),)
)


@pytest.mark.parametrize(
    ("router", "excused"),
    [(HoldsEvents, True), (HoldsEventsAndSaysThatItRepeats, False), (AcceptsRepetitionsOnly, False)],
)
def test_a_probe_event_lost_later_is_excused_only_if_it_was_held_until_then(router, excused):
    record = play(LOST_LATER, router)
    later = [row for row in record.lost if row.time >= record.later_at]
    assert {each.publication.id for each in record.probes} & {row.message.publication_id for row in later}
    assert (LAWS["promised"](record) is None) == excused


@pytest.mark.parametrize(("delayed", "excused"), [(0, True), (1, False)])
def test_a_missing_route_is_excused_only_at_the_arrival_of_a_delayed_frame(delayed, excused):
    delay = LinkRuleStep(at=0.0, until=60.0, rule="delay", senders=(delayed,), seconds=0.02)
    history = msgspec.structs.replace(story(), later=(delay,))
    assert (LAWS["undisturbed"](play(history, LosesItsRoutes)) is None) == excused
    assert LAWS["undisturbed"](play(history, Flooding)) is None


@pytest.mark.parametrize(("rate", "excused"), [(1.01, True), (1.0, False), (0.99, False)])
def test_a_missing_route_is_excused_at_a_relay_with_a_faster_clock(rate, excused):
    mild = LinkRuleStep(at=0.0, until=60.0, rule="duplicate", senders=(2,))
    clocks = (Clock(), Clock(rate=rate), Clock())
    history = msgspec.structs.replace(story(), later=(mild,), clocks=clocks)
    assert (LAWS["undisturbed"](play(history, LosesItsRoutes)) is None) == excused
    assert LAWS["undisturbed"](play(history, Flooding)) is None


def test_an_event_after_a_lost_one_of_the_same_type_is_not_excused():
    mild = LinkRuleStep(at=0.0, until=0.5, rule="lose", kinds=(Flood.number,))
    history = msgspec.structs.replace(story(), later=(mild,))
    assert "although no copy was lost" in LAWS["undisturbed"](play(history, RefusesAfterGaps))
    assert LAWS["undisturbed"](play(history, Flooding)) is None


def test_duplicating_links_do_not_excuse_a_storm_of_real_events():
    class RepeatsToAddressees(NeverForgetsToRepeat):
        @classmethod
        def traits(cls, parameters):
            return ProtocolTraits(travel=Dissemination.ADDRESSED)

    doubled = LinkRuleStep(at=0.0, until=20.0, rule="duplicate", share=0.5, seconds=1.0)
    record = play(story(doubled), RepeatsToAddressees)
    assert "frames by" in LAWS["calm"](record)


@pytest.mark.parametrize("linked", [True, False])
def test_a_small_hop_limit_alone_does_not_excuse_an_event_that_vanishes(linked):
    held = read(HELD)
    subscription = SubscribeStep(at=1.613, node=0, zones=(1, 1))
    steps = (*(step for step in held.steps if not isinstance(step, RequestStep)), subscription)
    healed = (*held.healed, (0, 4)) if linked else held.healed
    history = msgspec.structs.replace(held, steps=tuple(sorted(steps, key=lambda s: s.at)), healed=healed)
    assert LAWS["conserved"](play(history)) is None
    assert "vanished in node 0" in LAWS["conserved"](play(history, IgnoresItsEvents))


def test_an_event_is_missed_if_its_router_had_time_to_forward_it():
    record = play(story(), LosesSilently)
    assert "vanished" in LAWS["conserved"](record)
    assert record.longest >= 1.0
    last = max(heard.time for heard in record.receptions)
    record.left_at = last + record.longest
    assert "vanished" in LAWS["conserved"](record)


def test_a_play_ends_when_the_real_time_is_up():
    with pytest.raises(TimeUpError):
        judge_all(story(), HasAClockOfItsOwn, deadline=time.monotonic())
    found = explore(["flooding"], 3, seconds=1e-9)
    assert found.histories == {"flooding": 0}
    assert found.findings == []


def test_a_replayed_frame_is_one_that_was_sent_with_one_number_changed():
    replays = [Replay(at=6.5 + n / 10, to=n % 3, choice=n) for n in range(30)]
    record = play(story(*replays), Flooding)
    forged = [heard for heard in record.receptions if heard.forged]
    assert len(forged) == 30
    for heard in forged:
        before = [aired.message for aired in record.transmissions if aired.time <= heard.time]
        assert 1 in {numbers_apart(heard.message, message) for message in before}
    assert record.forged_publications == {heard.message.publication_id for heard in forged}
    assert play(story(*replays), Flooding).receptions == record.receptions


def numbers_apart(a, b):
    pairs = zip(numbers_of(a), numbers_of(b), strict=True)
    return sum(before.value != after.value for before, after in pairs)


def test_what_was_not_sent_earlier_is_not_saved_for_a_storm(monkeypatch):
    monkeypatch.setattr(recording_mesh, "MOST_FRAMES", 500)
    early = story()
    steps = tuple(msgspec.structs.replace(step, at=step.at + 3000) for step in early.steps)
    late = msgspec.structs.replace(early, end=early.end + 3000, steps=steps)
    lengths = [len(play(history, GoesToAndFro).transmissions) for history in (early, late)]
    assert lengths == [pytest.approx(501, abs=20)] * 2


def test_a_frame_that_nobody_heard_is_missed():
    record = play(story(), Flooding)
    assert LAWS["accounted"](record) is None
    del record.receptions[3]
    assert "was sent" in LAWS["accounted"](record)


def test_a_frame_that_nobody_sent_is_noticed():
    record = play(story(), Flooding)
    record.receptions.append(record.receptions[0]._replace(sender=2, node=0))
    assert "never sent" in LAWS["accounted"](record)


def test_a_second_play_that_ends_earlier_is_noticed():
    record = play_twice(story(), Flooding)
    assert LAWS["repeated"](record) is None
    record.second.deliveries.pop()
    assert "deliveries differ from row" in LAWS["repeated"](record)


def test_who_asked_for_one_event_and_got_another_is_owed_no_more():
    record = play(story(REQUEST), DeliversLate)
    (request,) = [request for request in record.subscriptions if request.single]
    (got,) = [got for got in record.deliveries if got.node == 1]
    first, second = record.probes[:2]
    assert got.publication == first.publication
    assert first.time < second.time < request.end
    assert LAWS["promised"](record) is None


def test_a_crash_excuses_what_memory_took():
    crash = (FaultStep(at=9.0, node=2, kind=FaultKind.CRASH), FaultStep(at=9.5, node=2, kind=FaultKind.START))
    assert judge(story(PARTITION, *crash), SaysThatItRepeats) is None


def said_of(*nodes):
    """A stranger tells the node between that it, or someone else, has acknowledged an event."""
    ack = Ack(nodes[0], 7, frozenset(nodes[1:]))
    return ForgeStep(at=3.0, to=1, sender=1, data=encode(ack).hex(), about=ack.publication_id)


class HearsAcks(SaysThatItRepeats):
    """Has sessions, by what it says; strangers may speak of them."""

    messages = (*Flooding.messages, Ack, DsdvUpdate)

    def receive(self, message, sender, signal):
        return super().receive(message, sender, signal) if isinstance(message, Flood) else Drop.UNWANTED


class HearsAcksAndRefusesEvents(HearsAcks):
    def receive(self, message, sender, signal):
        return Drop.UNWANTED


@pytest.mark.parametrize(
    ("law", "router", "trouble"),
    [("promised", HearsAcksAndRefusesEvents, ()), ("acknowledged", HearsAcks, (PARTITION,))],
)
def test_a_session_is_excused_by_what_strangers_say_of_it_and_by_nothing_else(law, router, trouble):
    route = DsdvUpdate((DsdvEntry(0, 0, 2**31), DsdvEntry(2, 1, 4)))
    of_routes = ForgeStep(at=3.0, to=1, sender=1, data=encode(route).hex())
    for excuse in (said_of(0, 1), said_of(1, 2), said_of(5, 2)):
        assert LAWS[law](play(story(excuse, *trouble), router)) is None
    for none in (said_of(1, 5), said_of(9, 8), of_routes):
        assert LAWS[law](play(story(none, *trouble), router)) is not None


def test_whom_a_message_speaks_of_is_read_from_its_declaration():
    carried = Publication(4, 1, Note(zone=0))
    event = XcastEvent(carried, (4, 6), (Addressee(7, 1, 1),))
    assert nodes_named(event) == {4, 6, 7}
    assert nodes_named(Datagram(8, 9, 3, event)) == {4, 6, 7, 8, 9}
    assert nodes_named(Ack(1, 99, frozenset({2, 3}))) == {1, 2, 3}
    assert nodes_named(DsdvUpdate((DsdvEntry(5, 3, 77),))) == {5}
    assert nodes_named(EventAck(carried.id)) == {4}


def test_every_law_has_a_sentence_and_a_test():
    shown = {case[0] for mark in test_a_law_is_seen_to_be_broken.pytestmark for case in mark.args[1]}
    assert shown | {"silent"} == set(LAWS)
    assert all(check.__doc__ for check in LAWS.values())
