"""RAFT-CBR tells its host who has acknowledged, refuses publications when full, and gives up on request."""

from functools import partial
from random import Random

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.profiles import LIVE, with_profile
from roamcast.routing.router import Drop, Publication
from roamcast.testing import LinkModel, Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
QUICK = RaftDsdvParameters(period=3, settling=0.0, link_feedback=True)


def network(**parameters):
    """Node 1 between publisher 0 and subscriber 2, with what the publisher's host is told."""
    router = partial(RaftCbr, parameters=RaftCbrParameters(dsdv=QUICK, **parameters))
    mesh = Mesh.line(3, router)
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=20)
    mesh.subscribe(2, EVERYTHING)
    mesh.run(for_=5)
    received = []
    mesh.routers[0].settled = lambda publication, receiver, acknowledged: received.append(
        (publication, receiver, acknowledged)
    )
    return mesh, received


def publish(mesh, sequence, zone=1):
    publication = Publication(0, sequence, Coupon(zone=zone))
    return publication.id, mesh.routers[0].publish(publication)


def test_the_host_learns_who_has_acknowledged():
    mesh, result = network()
    number, refused = publish(mesh, 1)
    assert refused is None and mesh.routers[0].unacknowledged(number) == 1 and not result
    mesh.run(for_=2)
    assert result == [(number, 2, True)] and mesh.routers[0].unacknowledged(number) == 0


def test_the_host_learns_of_a_subscriber_that_has_lost_its_memory():
    mesh, result = network()
    mesh.cut(1, 2)
    number, _ = publish(mesh, 1)
    mesh.run(for_=1)
    mesh.kill(2)
    mesh.revive(2)
    mesh.join(1, 2)
    mesh.subscribe(2, EVERYTHING)
    mesh.run(for_=60)
    assert (number, 2, False) in result


def test_a_full_publisher_refuses_where_it_may_and_else_gives_up_the_oldest():
    mesh, result = network(unacknowledged_events=2)
    mesh.routers[0].may_refuse = True
    mesh.cut(1, 2)
    assert [publish(mesh, n)[1] for n in (1, 2, 3)] == [None, None, Drop.TABLE_FULL]
    assert not result
    mesh.join(1, 2)
    mesh.run(for_=60)
    assert publish(mesh, 3)[1] is None

    mesh, result = network(unacknowledged_events=2)
    mesh.cut(1, 2)
    first = publish(mesh, 1)[0]
    assert [publish(mesh, n)[1] for n in (2, 3)] == [None, None]
    assert result == [(first, 2, False)]


def test_an_abandoned_publication_is_not_sent_again_and_the_next_arrives():
    mesh, result = network()
    mesh.cut(0, 1)
    first, second = publish(mesh, 1, zone=1)[0], publish(mesh, 2, zone=2)[0]
    mesh.routers[0].abandon(first)
    mesh.routers[0].abandon(12345)
    assert result == [(first, 2, False)]
    mesh.run(for_=1)
    mesh.join(0, 1)
    mesh.run(for_=60)
    assert mesh.delivered == [(2, Coupon(zone=2))] and result[-1] == (second, 2, True)


def test_an_advertisement_that_has_ended_expires_at_others():
    mesh, _ = network()
    assert mesh.routers[2].adverts.routes(mesh.now)
    mesh.routers[0].unadvertise(EVERYTHING)
    mesh.run(for_=60)
    assert not mesh.routers[2].adverts.routes(mesh.now)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_reported_as_acknowledged_is_delivered_even_around_a_subscription(seed):
    """Subscriptions come and go while events are published, some of them on their way at that moment."""
    r = Random(seed)
    parameters = RaftCbr.parameters_type.model_validate(with_profile(RaftCbr, {"profile": LIVE}))
    mesh = Mesh.line(
        4, partial(RaftCbr, parameters=parameters), seed=seed, links=LinkModel(loss=0.3, tries=2)
    )
    mesh.advertise(0, EVERYTHING)
    mesh.run(for_=5)
    received = []
    mesh.routers[0].settled = lambda *what: received.append(what)
    for sequence in range(1, 120):
        publish(mesh, sequence, zone=r.choice((1, 2)))
        node = r.choice((1, 3))
        if r.random() < 0.15:
            mesh.subscribe(node, Coupon.zone == r.choice((1, 2)))
        elif r.random() < 0.1 and mesh.routers[node].interests:
            mesh.unsubscribe(node, mesh.routers[node].interests[0])
        mesh.run(for_=r.random() * 0.1)
    mesh.run(for_=60)
    delivered = {(each.publication.id, each.node) for each in mesh.deliveries}
    confirmed = {(publication, node) for publication, node, acknowledged in received if acknowledged}
    assert len(confirmed) > 10 and confirmed <= delivered
