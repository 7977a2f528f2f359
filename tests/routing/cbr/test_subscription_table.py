"""The table of subscriptions against its slow twin, a list of deadlines in which everyone is asked."""

from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.subscription_table import MANY, SubscriptionTable
from roamcast.wire.blobs import filter_size

Coupon = EventType("coupon", {"zone": Integer()})
PATTERNS = [(Coupon.zone >= n % 10) & (Coupon.zone <= n % 10 + n // 10) for n in range(4 * MANY)]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("hear"), st.integers(0, 4), st.integers(0, len(PATTERNS) - 1)),
        st.tuples(st.just("hear many"), st.integers(0, 4), st.integers(0, len(PATTERNS) - 1)),
        st.tuples(st.just("wait"), st.integers(1, 9), st.just(0)),
        st.tuples(st.just("sweep"), st.just(0), st.just(0)),
    ),
    max_size=30,
)


class Twin:
    """All that was heard, the oldest first."""

    def __init__(self, life, capacity):
        self.life, self.capacity, self.deadlines = life, capacity, {}

    def hear(self, child, pattern, now):
        new = self.deadlines.pop((child, pattern), now) <= now
        self.deadlines[child, pattern] = now + self.life
        if len(self.deadlines) > self.capacity:
            del self.deadlines[next(iter(self.deadlines))]
        return new

    def matching(self, event, now):
        return {child for (child, p), end in self.deadlines.items() if end > now and p.matches(event)}

    def sweep(self, now):
        self.deadlines = {key: end for key, end in self.deadlines.items() if end > now}


@given(steps, st.sampled_from([8, 40, 1000]))
def test_the_children_that_want_an_event_are_those_whose_leases_say_so(steps, capacity):
    table, twin, now = SubscriptionTable(15.0, capacity), Twin(15.0, capacity), 0.0
    for what, number, place in steps:
        if what == "wait":
            now += number
        elif what == "sweep":
            table.sweep(now)
            twin.sweep(now)
        else:
            # "many" takes the table over the number from which on it uses the index.
            for pattern in PATTERNS[place : place + (2 * MANY if what == "hear many" else 1)]:
                assert table.hear(number, pattern, now) == twin.hear(number, pattern, now)
        for zone in (0, 5, 9, 14):
            assert table.matching(Coupon(zone=zone), now) == twin.matching(Coupon(zone=zone), now)
        footprint = table.footprint()
        assert footprint.entries == len(twin.deadlines) <= capacity
        assert footprint.bytes == sum(4 + filter_size(p) + 8 for _, p in twin.deadlines)


def test_a_child_that_asks_for_ever_other_things_fills_no_more_than_the_table():
    table = SubscriptionTable(15.0, 10)
    for zone in range(1000):
        table.hear(1, Coupon.zone == zone, 0.0)
        assert sum(map(len, table._children.values())) <= 20
    assert table.matching(Coupon(zone=999), 1.0) == {1}
    assert table.matching(Coupon(zone=5), 1.0) == set()
