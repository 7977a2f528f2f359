"""The subscription table: which route is kept, for how long, and of whom."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.tpsr.messages import RouteSubscription, weaker
from roamcast.routing.tpsr.parameters import TpsrParameters
from roamcast.routing.tpsr.route_table import SubscriberTable
from roamcast.routing.tpsr.tpsr import Tpsr
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer()})
THREE = Coupon(zone=3)
SUBSCRIBER = 9


def signal(metres):
    return 1 / metres**2


def table(**parameters):
    return SubscriberTable(Mesh(1, Tpsr).hosts[0], TpsrParameters(**parameters))


USUAL = signal(200)


def hear(routes, hops, weakest=USUAL, *, serial=1, now=0.0, subscriber=SUBSCRIBER):
    message = RouteSubscription(subscriber, serial, (Coupon.zone == 3,), weakest, tuple(reversed(hops[:-1])))
    return routes.hear(message, weakest, subscriber << 32 | serial, now)


def test_within_a_renewal_a_shorter_route_replaces_a_longer_one_and_not_the_other_way_round():
    routes = table()
    hear(routes, (1, 2, 9))
    hear(routes, (3, 9))
    assert routes.route(9, 0).hops == (3, 9)
    hear(routes, (4, 5, 9), signal(10))
    assert routes.route(9, 0).hops == (3, 9)


def test_of_routes_of_one_length_the_one_whose_weakest_hop_is_stronger_is_kept():
    routes = table()
    for hop, metres in ((1, 200), (2, 150), (3, 240)):
        hear(routes, (hop, 9), signal(metres))
    assert routes.route(9, 0).hops == (2, 9)


@pytest.mark.parametrize(
    ("ranking", "kept"), [("length", (1, 9)), ("sound", (2, 3, 9)), ("signal", (4, 5, 6, 9))]
)
def test_what_is_better_is_a_parameter(ranking, kept):
    routes = table(ranking=ranking)
    hear(routes, (1, 9), signal(245))
    hear(routes, (2, 3, 9), signal(200))
    hear(routes, (4, 5, 6, 9), signal(100))
    assert routes.route(9, 0).hops == kept


def test_a_newer_renewal_replaces_any_route_and_an_older_one_none():
    routes = table()
    hear(routes, (1, 9), serial=5)
    assert hear(routes, (1, 2, 3, 9), signal(249), serial=6)
    assert routes.route(9, 0).hops == (1, 2, 3, 9)
    assert not hear(routes, (9,), serial=5)
    assert routes.route(9, 0).hops == (1, 2, 3, 9)


def test_a_route_laid_by_another_subscriber_since_then_is_not_replaced_by_a_late_copy():
    routes = table()
    hear(routes, (1, 9), serial=5)
    passing = RouteSubscription(7, 1, (), signal(200), (9, 4, 3))
    routes.share(passing, signal(200), 7 << 32 | 1, 0.0)
    assert routes.route(9, 0).hops == (3, 4, 9)
    hear(routes, (9,), serial=5)
    assert routes.route(9, 0).hops == (3, 4, 9)
    hear(routes, (2, 9), serial=6)
    assert routes.route(9, 0).hops == (2, 9)


def test_copies_of_one_subscription_that_pass_a_subscriber_are_ranked_too():
    routes = table()
    hear(routes, (1, 9))
    for route in ((9, 4, 3), (9, 5), (9, 6, 8)):
        routes.share(RouteSubscription(7, 1, (), signal(200), route), signal(200), 7 << 32 | 1, 0.0)
    assert routes.route(9, 0).hops == (5, 9)


def test_a_route_without_a_subscription_is_of_no_use():
    routes = table()
    routes.share(RouteSubscription(7, 1, (), signal(200), (9, 4)), signal(200), 7 << 32 | 1, 0.0)
    assert routes.route(9, 0) is None


def test_subscriptions_lapse_and_make_room():
    routes = table(subscribers=2)
    for subscriber in (7, 8, 9):
        hear(routes, (subscriber,), now=float(subscriber), subscriber=subscriber)
    assert routes.matching(THREE, 10.0) == [8, 9]
    assert routes.matching(THREE, 508.5) == [9] and routes.lapsed(THREE, 508.5)
    assert not routes.lapsed(Coupon(zone=4), 508.5)
    assert routes.footprint().entries == routes.footprint().limit == 2


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
@example(5, 5 + 2**31)
@example(5 + 2**31, 5)
def test_every_serial_is_replaced_or_is_one_that_replaces(serial, other):
    # If neither of two serials half a circle apart were newer, a forged one would stay until it expires.
    routes = table()
    hear(routes, (7,), serial=serial)
    replaced = hear(routes, (7,), serial=other)
    ahead = (other - serial) % 2**32
    assert replaced == (ahead <= 2**31)


@given(st.lists(st.one_of(st.just(0.0), st.just(float("nan")), st.floats(1e-12, 1.0))))
def test_the_weakest_of_several_signals_is_the_least_that_is_known(signals):
    weakest = 0.0
    for each in signals:
        weakest = weaker(weakest, each)
    assert weakest == min((each for each in signals if each > 0), default=0.0)
