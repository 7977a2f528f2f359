"""The comparisons can fail, and read ns-2's traces right."""

from validation import ours
from validation.ns2 import read_unicast_trace
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


def test_a_check_beyond_its_bound_or_without_a_number_fails():
    assert Check("a", "b", 1.04, 1.0, 0.05, relative=True).passed
    assert not Check("a", "b", 1.06, 1.0, 0.05, relative=True).passed
    assert not Check("a", "b", 0.94, 1.0, 0.05, relative=False).passed
    assert not Check("a", "b", float("nan"), 1.0, 0.05, relative=True).passed


def test_the_page_counts_what_holds():
    checks = [Check("a", "b", 1.0, 1.0, 0.05, relative=True), Check("c", "d", 2.0, 1.0, 0.05, relative=True)]
    told = page([Section("Title", "ns-2", "Text.", checks)], "# Validation")
    assert "1 of 2 hold." in told
    assert "FAIL" in told


def test_the_saturated_pair_is_where_it_should_be():
    for rts, known in ((False, 320.5), (True, 263.4)):
        rate = ours.cell(2, 20, 1, payload=512, broadcast=False, rts=rts, senders=1, capture=10)
        assert abs(rate / known - 1) < 0.01
