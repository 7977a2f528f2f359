"""What routers say of the size of their tables, counted by hand."""

from functools import partial

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.ft import FtCbr
from roamcast.routing.cbr.messages import MostCovering, Subscription
from roamcast.routing.cbr.parameters import FtCbrParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.flooding import Flooding
from roamcast.routing.router import Footprint
from roamcast.testing import Mesh
from roamcast.wire.blobs import filter_size

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
WIDE = Coupon.zone < 5
NARROW = Coupon.zone == 3
THREE = Coupon(zone=3)

everything = partial(FtCbr, parameters=FtCbrParameters(covering=True, most_covering=True))


def test_flooding_remembers_what_it_has_seen_and_nothing_else():
    mesh = Mesh.line(2, Flooding)
    mesh.publish(0, THREE)
    mesh.run(for_=1)
    assert mesh.routers[1].tables() == {"seen": Footprint(1, 8, 65536)}


def test_the_tables_of_a_broker_that_waits_for_a_child():
    mesh = Mesh(4, everything, [(0, 1), (1, 2), (1, 3)])
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=0.1)
    for child in (2, 3):
        mesh.inject(1, Subscription(NARROW), sender=child)
    mesh.inject(1, Subscription(WIDE), sender=3)
    mesh.inject(1, MostCovering(0, WIDE, 5, 1), sender=2)
    mesh.run(for_=0.1)
    mesh.cut(1, 3)
    mesh.publish(0, THREE, size=512)
    mesh.run(for_=0.3)
    narrow, wide = filter_size(NARROW), filter_size(WIDE)
    tables = mesh.routers[1].tables()
    assert tables["subscriptions"][:2] == (3, 3 * (4 + 8) + 2 * narrow + wide)
    assert tables["forwarded"][:2] == (2, 2 * 4 + narrow + wide)
    assert tables["most_covering"][:2] == (1, 4 + 4 + wide + 2 + 2 + 8)
    assert tables["seen"][:2] == (1, 8)
    assert tables["unacknowledged"][:2] == (1, 512 + 4 + 8)
    assert tables["floods"][:2] == (1, 8 + 1 + 8)


def test_when_all_have_answered_and_forgotten_little_remains():
    mesh = Mesh.line(3, everything)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=0.1)
    mesh.subscribe(2, NARROW)
    mesh.run(for_=1)
    mesh.publish(0, THREE)
    mesh.unsubscribe(2, NARROW)
    mesh.run(for_=60)
    tables = mesh.routers[1].tables()
    assert {name for name, footprint in tables.items() if footprint.entries} <= {"adverts", "seen", "floods"}


def test_the_publisher_of_raft_cbr_counts_published_events_and_its_unicast_stored_updates():
    mesh = Mesh.line(2, RaftCbr)
    mesh.advertise(0, EVERYTHING)
    mesh.subscribe(1, NARROW)
    mesh.run(for_=40)
    for _ in range(3):
        mesh.publish(0, THREE, size=512)
    mesh.run(for_=0.5)
    publisher, subscriber = (router.tables() for router in mesh.routers)
    assert publisher["published"][:2] == (3, 3 * (512 + 8))
    assert publisher["recent"].entries == 0, "it has received no event"
    assert subscriber["recent"].entries == 3 and subscriber["published"].entries == 0
    assert publisher["updates"][:2] == (1, 2 * 12), "the last full update of its neighbour"
