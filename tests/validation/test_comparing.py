"""The comparisons can fail, and read ns-2's traces right."""

from statistics import stdev

import pytest

from validation import ours
from validation.comparisons import measure_topic
from validation.ns2 import read_unicast_trace
from validation.plan import Plan, Topic
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
    assert cells[4:6] == ("+1.00 %", "")


def test_what_was_kept_is_not_measured_again(tmp_path):
    measured = []

    def measure(plan):
        measured.append(plan)
        yield Check("a", "b", [1.0, 2.0], [1.0, 2.5], 0.1, relative=True, note="c")

    topic = Topic("A title, with a comma", "ns-2", "Text.", measure)
    plan = Plan(True, tmp_path, print)
    first = measure_topic(topic, plan, tmp_path / "kept")
    assert measure_topic(topic, plan, tmp_path / "kept") == first
    assert len(measured) == 1
    measure_topic(topic, plan, None)
    assert len(measured) == 2


def test_the_page_counts_what_agrees():
    checks = [Check("a", "b", 1.0, 1.0, 0.05, relative=True), Check("c", "d", 2.0, 1.0, 0.05, relative=True)]
    told = page([Section("Title", "ns-2", "Text.", checks)], "# Validation")
    assert "1 of 2 agree, 1 are apart." in told
    assert "differ significantly" not in told  # nothing has an interval
    assert "APART" in told


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
