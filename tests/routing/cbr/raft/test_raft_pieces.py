"""The small mechanisms of RAFT-CBR by themselves, each against a naive twin."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.routing.cbr.raft.cache import subtract
from roamcast.routing.cbr.raft.xcast import join_chain

spans = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(spans, max_size=5), spans)
def test_what_remains_of_holes_is_what_was_not_filled(holes, filled):
    left = subtract(holes, *filled)
    before = {n for a, b in holes for n in range(a, b + 1)}
    assert {n for a, b in left for n in range(a, b + 1)} == before - set(range(filled[0], filled[1] + 1))
    assert all(a <= b for a, b in left)


@given(st.lists(st.integers(0, 5), max_size=8).map(tuple), st.integers(0, 5))
def test_a_chain_ends_with_me_and_names_me_once(chain, me):
    joined = join_chain(chain, me)
    assert joined[-1] == me and joined.count(me) == 1
    assert joined[:-1] == chain[: len(joined) - 1]
