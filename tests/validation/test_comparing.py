"""The comparisons can fail, and read ns-2's traces right."""

from functools import partial
from statistics import stdev

import pytest

import roamcast
from roamcast.api.runs import name_protocol
from roamcast.routing.router import Category
from roamcast.routing.unicast.dsr.parameters import NS2 as DSR
from validation import ours
from validation.kept import Kept, NotMeasuredError
from validation.link_calls import counted
from validation.ns2 import Ground, Outcome, read_unicast_trace
from validation.plan import DELAY, DELIVERY, Plan, compare
from validation.report import Check, Section, page

TRACE = """\
s -t 10.0 -Hs 0 -Hd -2 -Ni 0 -Nl AGT -Nw --- -Is 0.0 -Id 3.0 -It udp -Il 512 -If 0 -Ii 7 -Iv 32
s -t 10.0 -Hs 0 -Hd 1 -Ni 0 -Nl RTR -Nw --- -Is 0.0 -Id 3.0 -It udp -Il 532 -If 0 -Ii 7 -Iv 32
f -t 10.1 -Hs 1 -Hd 3 -Ni 1 -Nl RTR -Nw --- -Is 0.0 -Id 3.0 -It udp -Il 532 -If 0 -Ii 7 -Iv 31
r -t 10.25 -Hs 3 -Hd 3 -Ni 3 -Nl AGT -Nw --- -Is 0.0 -Id 3.0 -It udp -Il 532 -If 0 -Ii 7 -Iv 31
s -t 11.0 -Hs 0 -Hd -2 -Ni 0 -Nl AGT -Nw --- -Is 0.0 -Id 2.0 -It udp -Il 512 -If 0 -Ii 8 -Iv 32
d -t 11.1 -Hs 0 -Hd 2 -Ni 0 -Nl RTR -Nw CBK -Is 0.0 -Id 2.0 -It udp -Il 532 -If 0 -Ii 8 -Iv 32
s -t 12.0 -Hs 4 -Hd -2 -Ni 4 -Nl RTR -Nw --- -Is 4.255 -Id -1.255 -It message -Il 44 -If 0 -Ii 9 -Iv 32
"""


def test_the_95th_percentile_of_a_trace_lies_between_its_latest_two():
    lines = "".join(
        f"s -t 1{n}.0 -Hs 0 -Ni 0 -Nl AGT -Nw --- -It cbr -Ii {n} -Iv 32\n"
        f"r -t 1{n}.{n} -Hs 3 -Ni 3 -Nl AGT -Nw --- -It cbr -Ii {n} -Iv 31\n"
        for n in range(1, 6)
    )
    assert read_unicast_trace(lines.splitlines(), since=0).p95 == pytest.approx(0.48)


def test_a_trace_becomes_an_outcome():
    outcome = read_unicast_trace(TRACE.splitlines(), since=0)
    assert (outcome.delivery, outcome.delay, outcome.routing, outcome.transmissions) == (0.5, 0.25, 1, 3)
    assert outcome.drops == {"CBK": 1}


def test_what_was_sent_before_the_count_began_is_left_out():
    outcome = read_unicast_trace(TRACE.splitlines(), since=10.05)
    assert (outcome.delivery, outcome.transmissions) == (0.0, 2)


def test_a_check_beyond_its_bound_or_without_a_number_is_apart():
    assert Check("a", "b", 1.04, 1.0, 0.05, relative=True).verdict == "agrees"
    assert Check("a", "b", 1.06, 1.0, 0.05, relative=True).verdict == "APART"
    assert Check("a", "b", 0.94, 1.0, 0.05, relative=False).verdict == "APART"
    assert Check("a", "b", float("nan"), 1.0, 0.05, relative=True).verdict == "APART"


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ([1.00, 1.01, 0.99], "agrees"),
        ([1.00, 1.20, 0.80], "open"),  # the means agree, and so few runs cannot say it
        ([1.05, 1.12, 1.10], "open"),  # and here they do not
        ([1.20, 1.21, 1.19], "APART"),
    ],
)
def test_too_few_runs_leave_it_open(ours, verdict):
    assert Check("a", "b", ours, 1.0, 0.05, relative=True).verdict == verdict


def test_an_interval_tells_a_difference_from_chance():
    theirs = [10.0, 20.0, 30.0, 40.0]
    steady = Check("a", "b", [11.0, 21.1, 31.0, 40.9], theirs, 0.05, relative=True)
    # Runs are paired: movements differ by far more than the two sides do on one of them.
    assert steady.difference == pytest.approx(0.04)
    assert steady.margin == pytest.approx(3.182 * stdev([1.0, 1.1, 1.0, 0.9]) / 2 / 25, rel=1e-3)
    assert steady.differs
    chance = Check("a", "b", [11.0, 19.0, 31.5, 38.7], theirs, 0.05, relative=True)
    assert not chance.differs
    assert "+0.20 ± " in "".join(chance.cells())


def test_against_a_known_value_only_ours_scatter():
    check = Check("a", "b", [99.0, 101.0, 100.0], 100.0, 0.01, relative=True)
    assert check.margin == pytest.approx(4.303 * 1 / 3**0.5 / 100, rel=1e-3)
    assert not check.differs
    with pytest.raises(ValueError, match="cannot be paired"):
        _ = Check("a", "b", [1.0, 2.0, 3.0], [1.0, 2.0], 1, relative=False).margin


def test_a_single_run_has_no_interval_and_no_significance():
    cells = Check("a", "b", 1.01, 1.0, 0.05, relative=True).cells()
    assert cells[5:7] == ("+1.00 %", "")


def outcome(delivery):
    return Outcome(delivery=delivery, delay=float("nan"), transmissions=1)


def test_a_run_is_kept_under_what_it_was_told_and_not_done_again(tmp_path, monkeypatch):
    done = []

    def flood(ground, sends, seed, *, jitter=0.01):
        done.append(seed)
        return outcome(seed / 10)

    flood.__module__ = ours.__name__
    movement = tmp_path / "a.mov"
    movement.write_text("rest")
    ground = Ground(2, 100, 100, 10, movement)
    kept = Kept(tmp_path / "kept")
    first = kept.run(flood, ground, [], 1)
    again = kept.run(partial(flood, ground), [], 1)
    assert (first.delivery, again.delivery, done) == (0.1, 0.1, [1])
    kept.run(flood, ground, [], 2)
    kept.run(flood, ground, [], 1, jitter=0.02)
    movement.write_text("a step")
    kept.run(flood, ground, [], 1)
    monkeypatch.setattr("validation.kept.our_digest", lambda: "another code")
    kept.run(flood, ground, [], 1)
    assert done == [1, 2, 1, 1, 1]
    with pytest.raises(NotMeasuredError):
        Kept(tmp_path / "kept", measures=False).run(flood, ground, [], 7)


def test_a_page_of_an_interrupted_validation_says_what_is_missing(tmp_path):
    def play(seed):
        if seed > 2:
            raise NotMeasuredError
        return outcome(0.5), outcome(0.5)

    plan = Plan(False, tmp_path)
    checks = list(compare(plan, "a", [1, 2, 3], play, [DELIVERY]))
    text = page([Section("Some", "ns-2", "", checks), Section("None", "ns-2", "", [])], "")
    assert "| a | delivery | 2 of 3 |" in text
    assert "## None\n\n\n\n*Not measured yet" in text
    assert list(compare(plan, "a", [3], play, [DELIVERY])) == []


def test_where_nothing_was_delivered_the_pair_has_no_delay(tmp_path):
    late = {1: (0.2, 0.4), 2: (float("nan"), 0.4), 3: (0.3, 0.5), 4: (0.3, float("nan"))}

    def play(seed):
        return tuple(Outcome(0.0 if delay != delay else 0.5, delay, 1) for delay in late[seed])

    plan = Plan(False, tmp_path)
    delivery, delay = compare(plan, "a", [1, 2, 3, 4], play, [DELIVERY, DELAY])
    assert (delivery.ours, delivery.theirs) == ([0.5, 0.0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.0])
    assert (delay.ours, delay.theirs) == ([0.2, 0.3], [0.4, 0.5])
    assert delay.cells()[2] == "2 of 4"
    assert list(compare(plan, "a", [2, 4], play, [DELAY])) == []


def test_calls_of_the_link_are_counted_as_in_a_trace_of_ns2():
    """What a full queue loses and what DSR takes back counts as sent; the run itself is the same."""
    router = counted("dsr")
    world = {
        "duration": "40 s",
        "warmup": "0 s",
        "quiet": "0 s",
        "nodes.walkers.pause": "0 s",
        "nodes.walkers.speed": {"min": "10 m/s", "max": "20 m/s"},
        "mac.queue": 10,
        "protocol": {"dsr-unicast": dict(DSR), name_protocol(router): dict(DSR)},
    }
    router.calls.reset(0)
    run = roamcast.run("shopping", router, 1, world)
    plain = roamcast.run("shopping", "dsr-unicast", 1, world)
    assert run.facts["transmissions"].equals(plain.facts["transmissions"])
    sent, calls = plain.metrics.messages, router.calls.by_category
    lost = plain.facts["drops"]["cause"].cast("string").to_pylist().count("queue_full")
    assert lost > 100
    assert sum(calls.values()) > sent["total"] + lost  # DSR took back some
    assert min(calls[Category.ROUTING] - sent["routing"], calls[Category.EVENT] - sent["event"]) > 0
    router.calls.reset(30)
    roamcast.run("shopping", router, 1, world)
    assert 0 < sum(router.calls.by_category.values()) < sum(calls.values())


def test_the_page_counts_what_agrees():
    checks = [Check("a", "b", 1.0, 1.0, 0.05, relative=True), Check("c", "d", 2.0, 1.0, 0.05, relative=True)]
    text = page([Section("Title", "ns-2", "Text.", checks)], "# Validation")
    assert "1 of 2 agree, 1 are apart." in text
    assert "differ significantly" not in text  # nothing has an interval
    assert "APART" in text


def test_the_saturated_pair_is_where_it_should_be():
    for rts, known in ((False, 320.5), (True, 263.4)):
        rate = ours.cell(2, 20, 1, payload=512, broadcast=False, rts=rts, senders=1, capture=10)
        assert abs(rate / known - 1) < 0.01


@pytest.mark.parametrize("threshold", [590, 591])
def test_a_flow_at_the_edge_of_the_threshold_is_announced_or_not(threshold):
    passed = ours.flows([(0.0, 0.0), (100.0, 0.0)], [[0, 1]], 2, 1, rts=threshold)
    assert passed == pytest.approx([263.4 if threshold == 590 else 320.5], rel=0.03)


def test_a_chain_of_two_hops_passes_half_of_what_one_does():
    places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0)]
    one, two = (ours.flows(places, [path], 2, 1)[0] for path in ([0, 1], [0, 1, 2]))
    assert 0.4 < two / one < 0.55
