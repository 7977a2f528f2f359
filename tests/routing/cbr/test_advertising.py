"""Advertising: offers of one moment share a serial, so that serials count renewals."""

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.adverts import LAG, AdvertTable
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import Advert
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.routing.router import Drop
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer()})
FILTERS = [Coupon.zone == zone for zone in range(8)]


def serials(mesh, node):
    return {advert.serial for advert in mesh.routers[node].adverts.routes(mesh.now)}


@pytest.mark.parametrize("seed", [0, 1, 3, 5])  # in these 2 speaks before it hears anything newer from 3
def test_many_offers_between_two_renewals_make_nobodys_news_stale(seed):
    # 1 and 2 both lead to 0, which publishes; 2 comes to 3 with news that is one renewal old.
    mesh = Mesh(4, Cbr, [(0, 1), (0, 2), (1, 3)], seed=seed)
    for advert in FILTERS:
        mesh.advertise(0, advert)
    mesh.run(for_=0.1)
    mesh.cut(0, 2)
    while serials(mesh, 2) & serials(mesh, 3):
        mesh.run(for_=0.1)
    mesh.join(2, 3)
    before = len(mesh.sent_of(Advert))
    while not (news := [sent for sent in mesh.sent_of(Advert)[before:] if sent.node == 2]):
        mesh.run(for_=0.1)
    assert {sent.message.serial for sent in news}.isdisjoint(serials(mesh, 3))
    assert not [drop for drop in mesh.drops if drop.reason is Drop.EXPIRED]
    adverts = mesh.routers[3].adverts.routes(mesh.now)
    assert len(adverts) == len(FILTERS)
    assert all([route.neighbour for route in advert.routes] == [1, 2] for advert in adverts)


def test_a_serial_counts_renewals():
    mesh = Mesh(2, Cbr, [(0, 1)])
    mesh.run(for_=20)
    for advert in FILTERS:
        mesh.advertise(0, advert)
    mesh.run(for_=7)
    assert sorted({sent.message.serial for sent in mesh.sent_of(Advert) if sent.node == 0}) == [1, 2]


def heard(serial, sender, now, adverts, incarnation=0):
    return adverts.hear(Advert(0, FILTERS[0], 1, serial, incarnation), sender, now)[0]


def test_old_news_of_a_publisher_renews_nothing():
    adverts = AdvertTable(15.0, 10, 16)
    assert heard(10, 1, 0.0, adverts) is None
    assert heard(10 - LAG - 1, 2, 1.0, adverts) is Drop.EXPIRED  # too many renewals behind
    assert heard(10 - LAG, 2, 1.0, adverts) is None
    assert heard(10, 3, 1.0, adverts, incarnation=7) is Drop.EXPIRED  # the other incarnation is still heard
    assert heard(10, 4, 15.0, adverts) is Drop.EXPIRED  # the publisher itself has been silent for a lease
    assert heard(1, 3, 15.0, adverts, incarnation=7) is None
    assert heard(11, 1, 15.0, adverts) is None


def test_a_newer_serial_in_the_circle_is_news():
    adverts = AdvertTable(15.0, 10, 16)
    assert heard(2**32 - 1, 1, 0.0, adverts) is None
    assert heard(0, 1, 7.0, adverts) is None
    assert heard(2**32 - 1, 2, 8.0, adverts) is None  # one renewal behind
    assert heard(2**32 - 1 - LAG, 3, 8.0, adverts) is Drop.EXPIRED


def line(serial=0, **parameters):
    """Node 0 publishes, the last of five in a line subscribes; `serial`: the one before the first."""
    mesh = Mesh.line(5, lambda host: Cbr(host, CbrParameters(**parameters)), seed=1)
    mesh.routers[0].serial = serial
    mesh.advertise(0, FILTERS[0])
    mesh.subscribe(4, FILTERS[0])
    mesh.run(for_=40)
    return mesh


def is_served(mesh):
    before = len(mesh.delivered)
    mesh.publish(0, Coupon(zone=0))
    mesh.run(for_=1)
    return mesh.delivered[before:] == [(4, Coupon(zone=0))]


MODES = pytest.mark.parametrize("parameters", [{}, {"flood_adverts": True}], ids=["beaconed", "flooded"])


@MODES
def test_a_publisher_goes_on_after_the_last_serial(parameters):
    mesh = line(serial=2**32 - 2, **parameters)
    mesh.run(for_=20)
    serials = [sent.message.serial for sent in mesh.sent_of(Advert) if sent.node == 0]
    assert serials[:4] == [2**32 - 2, 2**32 - 1, 0, 1]
    assert is_served(mesh)


@MODES
@pytest.mark.parametrize("hops", [0, 1, 61, 62, 63])
@pytest.mark.parametrize("ahead", [1, 3, 100, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 4])
@pytest.mark.parametrize("to", [1, 2, 4])
def test_a_forged_serial_silences_a_publisher_for_some_renewals_only(parameters, hops, ahead, to):
    mesh = line(**parameters)
    serial = (mesh.routers[0].serial + ahead) % 2**32
    mesh.inject(to, Advert(0, FILTERS[0], hops, serial), to - 1)
    mesh.run(for_=2 * 5 * 7 + 15)  # up to the publisher and down again, and a lease
    assert is_served(mesh)


@MODES
def test_forged_serials_each_newer_than_the_next_come_to_rest(parameters):
    mesh = Mesh(6, lambda host: Cbr(host, CbrParameters(**parameters)), [(n, (n + 1) % 6) for n in range(6)])
    for node, serial in ((0, 0), (2, 2**32 // 3), (4, 2 * 2**32 // 3)):
        for to in (node, node + 1):
            mesh.inject(to, Advert(9, FILTERS[0], 0, serial), 8)
    mesh.run(for_=64 * 15)
    assert all(router.adverts.routes(mesh.now) == [] for router in mesh.routers)
    before = len(mesh.sent)
    mesh.run(for_=60)
    assert mesh.sent[before:] == []


def test_the_newest_flood_leads_where_renewals_are_flooded():
    flooded, result = AdvertTable(110.0, 10, 16, flooded=True), AdvertTable(110.0, 10, 16)
    for adverts in (flooded, result):
        adverts.hear(Advert(0, FILTERS[0], 1, 7), 1, 0.0)
        adverts.hear(Advert(0, FILTERS[0], 5, 8), 3, 50.0)
        adverts.hear(Advert(0, FILTERS[0], 4, 8), 2, 50.1)
    [advert] = flooded.routes(60.0)
    assert [route.neighbour for route in advert.routes] == [2, 3, 1]
    [advert] = result.routes(60.0)
    assert [route.neighbour for route in advert.routes] == [1, 2, 3]
