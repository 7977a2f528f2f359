"""The small mechanisms by themselves, each against a naive twin."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.covering import Relations
from roamcast.content.kind import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.broker import subtract
from roamcast.routing.cbr.leases import Leases
from roamcast.routing.cbr.raft import join_chain

Coupon = EventType("coupon", {"zone": Integer()})

spans = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(spans, max_size=5), spans)
def test_what_remains_of_holes_is_what_was_not_filled(holes, filled):
    left = subtract(holes, *filled)
    before = {n for a, b in holes for n in range(a, b + 1)}
    assert {n for a, b in left for n in range(a, b + 1)} == before - set(range(filled[0], filled[1] + 1))
    assert all(a <= b for a, b in left)


@given(st.lists(spans.map(lambda s: (Coupon.zone >= s[0]) & (Coupon.zone <= s[1])), max_size=8))
def test_a_minimal_cover_covers_everything_and_nothing_in_it_covers_another(patterns):
    cover = Relations().minimal_cover(patterns)
    assert all(any(wide.covers(narrow) for wide in cover) for narrow in patterns)
    assert not any(a is not b and a.covers(b) for a in cover for b in cover)


@given(st.lists(st.tuples(st.sampled_from(["renew", "sweep"]), st.integers(0, 5), st.floats(0, 4))))
def test_leases_agree_with_a_list_of_deadlines(steps):
    leases, twin, now = Leases(5.0, 4), {}, 0.0
    for what, key, later in steps:
        now += later
        if what == "renew":
            new = leases.renew(key, key, now)
            assert new == (twin.get(key, (0.0, 0))[0] <= now)
            twin.pop(key, None)
            twin[key] = (now + 5.0, key)
            if len(twin) > 4:
                del twin[next(iter(twin))]
        else:
            leases.sweep(now)
            twin = {k: v for k, v in twin.items() if v[0] > now}
        assert dict(leases.items(now)) == {k: v[1] for k, v in twin.items() if v[0] > now}
        assert len(leases) == len(twin) <= 4


@given(st.lists(st.integers(0, 5), max_size=8).map(tuple), st.integers(0, 5))
def test_a_chain_ends_with_me_and_names_me_once(chain, me):
    joined = join_chain(chain, me)
    assert joined[-1] == me and joined.count(me) == 1
    assert joined[:-1] == chain[: len(joined) - 1]
