"""What each neighbour holds for us, against the definition: the minimal cover, computed anew."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.covering import RelationCache
from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.forwarded import ForwardedFilters
from roamcast.wire.blobs import filter_size

Coupon = EventType("coupon", {"zone": Integer()})

patterns = st.tuples(st.integers(0, 12), st.integers(0, 6)).map(
    lambda s: (Coupon.zone >= s[0]) & (Coupon.zone <= s[0] + s[1])
)
renewals = st.dictionaries(st.integers(1, 3), st.lists(patterns, max_size=12), max_size=3)
steps = st.lists(st.one_of(renewals, st.tuples(st.integers(1, 3), patterns), st.integers(1, 3)), max_size=25)


@given(steps)
def test_a_renewal_sends_the_minimal_cover_and_a_new_wish_only_what_it_does_not_cover(steps):
    forwarded, sent = ForwardedFilters(1000), {}
    for step in steps:
        if isinstance(step, dict):
            renewal = forwarded.renew(step)
            assert renewal == {n: RelationCache().minimal_cover(wanted) for n, wanted in step.items()}
            sent = renewal
        elif isinstance(step, tuple):
            neighbour, pattern = step
            covered = any(wide.covers(pattern) for wide in sent.get(neighbour, ()))
            assert forwarded.extend(neighbour, pattern) is not covered
            if not covered:
                sent.setdefault(neighbour, []).append(pattern)
        else:
            forwarded.forget(step)
            sent.pop(step, None)


def test_what_a_neighbour_may_hold_is_bounded_and_beyond_that_everything_is_sent():
    forwarded = ForwardedFilters(10)
    assert all(forwarded.extend(1, Coupon.zone == zone) for zone in range(20))
    assert not forwarded.extend(1, Coupon.zone == 5)
    assert forwarded.extend(1, Coupon.zone == 15)
    entries, size, limit = forwarded.footprint()
    assert entries == limit == 10
    assert size == sum(4 + filter_size(Coupon.zone == zone) for zone in range(10))


def test_a_renewal_beyond_that_sends_what_is_not_covered_by_what_is_held():
    wanted = [Coupon.zone < 5, Coupon.zone < 9, Coupon.zone == 3, Coupon.zone == 50]
    assert ForwardedFilters(2).renew({1: wanted}) == {1: [Coupon.zone < 9, Coupon.zone == 50]}
