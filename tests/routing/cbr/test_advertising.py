"""Advertising: offers of one moment share a serial, so that serials count renewals."""

import pytest

from roamcast.content.kind import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.adverts import LAG, AdvertTable
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import HIGHEST_SERIAL, Advert
from roamcast.routing.router import Drop
from roamcast.testing import Mesh
from roamcast.wire.vocabulary import encode

Coupon = EventType("coupon", {"zone": Integer()})
OFFERS = [Coupon.zone == zone for zone in range(8)]


def serials(mesh, node):
    return {offer.serial for offer in mesh.routers[node].adverts.offers(mesh.now)}


@pytest.mark.parametrize("seed", [0, 1, 3, 5])  # in these 2 speaks before it hears anything newer from 3
def test_many_offers_between_two_renewals_make_nobodys_news_stale(seed):
    # 1 and 2 both lead to 0, which publishes; 2 comes to 3 with news that is one renewal old.
    mesh = Mesh(4, Cbr, [(0, 1), (0, 2), (1, 3)], seed=seed)
    for offer in OFFERS:
        mesh.advertise(0, offer)
    mesh.run(for_=0.1)
    mesh.part(0, 2)
    while serials(mesh, 2) & serials(mesh, 3):
        mesh.run(for_=0.1)
    mesh.join(2, 3)
    before = len(mesh.sent_of(Advert))
    while not (news := [sent for sent in mesh.sent_of(Advert)[before:] if sent.node == 2]):
        mesh.run(for_=0.1)
    assert {sent.message.serial for sent in news}.isdisjoint(serials(mesh, 3))
    assert not [drop for drop in mesh.drops if drop.reason is Drop.EXPIRED]
    offers = mesh.routers[3].adverts.offers(mesh.now)
    assert len(offers) == len(OFFERS)
    assert all([neighbour for _, neighbour in offer.ways] == [1, 2] for offer in offers)


def test_a_serial_counts_renewals():
    mesh = Mesh(2, Cbr, [(0, 1)])
    mesh.run(for_=20)
    for offer in OFFERS:
        mesh.advertise(0, offer)
    mesh.run(for_=7)
    assert sorted({sent.message.serial for sent in mesh.sent_of(Advert) if sent.node == 0}) == [1, 2]


def heard(serial, sender, now, adverts, incarnation=0):
    return adverts.hear(Advert(0, OFFERS[0], 1, serial, incarnation), sender, now)[0]


def test_old_news_of_a_publisher_renews_nothing():
    adverts = AdvertTable(15.0, 10, 16)
    assert heard(10, 1, 0.0, adverts) is None
    assert heard(10 - LAG - 1, 2, 1.0, adverts) is Drop.EXPIRED  # too many renewals behind
    assert heard(10 - LAG, 2, 1.0, adverts) is None
    assert heard(10, 3, 1.0, adverts, incarnation=7) is Drop.EXPIRED  # the other incarnation is still heard
    assert heard(10, 4, 15.0, adverts) is Drop.EXPIRED  # the publisher itself has been silent for a lease
    assert heard(1, 3, 15.0, adverts, incarnation=7) is None
    assert heard(11, 1, 15.0, adverts) is None


def test_a_publisher_at_the_last_serial_is_still_said_and_understood():
    mesh = Mesh(2, Cbr, [(0, 1)])
    mesh.advertise(0, OFFERS[0])
    mesh.routers[0].serial = HIGHEST_SERIAL
    mesh.run(for_=8)
    last = mesh.sent_of(Advert)[-1].message
    assert last.serial == HIGHEST_SERIAL
    assert len(encode(last)) == last.size
