"""The small mechanisms of CBR by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.covering import RelationCache
from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType

Coupon = EventType("coupon", {"zone": Integer()})

spans = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(spans.map(lambda s: (Coupon.zone >= s[0]) & (Coupon.zone <= s[1])), max_size=8))
def test_a_minimal_cover_covers_everything_and_nothing_in_it_covers_another(patterns):
    cover = RelationCache().minimal_cover(patterns)
    assert all(any(wide.covers(narrow) for wide in cover) for narrow in patterns)
    assert not any(a is not b and a.covers(b) for a in cover for b in cover)
