"""In a network that stands still everyone gets what it wants, whatever covering holds back."""

from functools import partial
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.cbr import Cbr
from roamcast.routing.cbr.messages import Subscription
from roamcast.routing.cbr.parameters import CbrParameters
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer()})
ZONES = 6
NODES = 7
PUBLISHERS = (0, NODES - 1)
"So that subscriptions have two routes."


def network(r, router):
    edges = {(r.randrange(n), n) for n in range(1, NODES)}
    edges |= {tuple(sorted(r.sample(range(NODES), 2))) for _ in range(r.randint(0, 4))}
    mesh = Mesh(NODES, router, sorted(edges), seed=r.randrange(1000))
    for publisher in PUBLISHERS:
        mesh.advertise(publisher, Coupon.zone >= 0)
    mesh.run(for_=10)
    return mesh


def play(r, covering):
    """Subscriptions that cover each other come and go; checks every event, counts the subscriptions."""
    mesh = network(r, partial(Cbr, parameters=CbrParameters(covering=covering)))
    for _ in range(15):
        node = r.randrange(NODES)
        held = mesh.routers[node].interests
        if held and r.random() < 0.45:
            mesh.unsubscribe(node, r.choice(held))
        else:
            low = r.randrange(ZONES)
            mesh.subscribe(node, (Coupon.zone >= low) & (Coupon.zone <= low + r.choice([0, 0, 2, ZONES])))
        mesh.run(for_=r.choice([0.1, 2.0, 9.0, 17.0]))
        event = Coupon(zone=r.randrange(ZONES))
        publisher = r.choice(PUBLISHERS)
        wanting = [n for n in range(NODES) if n != publisher and mesh.routers[n].matches(event)]
        mesh.deliveries.clear()
        mesh.publish(publisher, event)
        mesh.run(for_=0.2)
        assert sorted(node for node, _ in mesh.delivered) == wanting
    return len(mesh.sent_of(Subscription))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_everyone_gets_what_it_wants_whatever_covers_it_comes_and_goes(seed):
    assert play(Random(seed), covering=True) <= play(Random(seed), covering=False)


def test_the_histories_have_something_to_cover():
    sent = [sum(play(Random(seed), covering) for seed in range(20)) for covering in (True, False)]
    assert sent[0] < 0.8 * sent[1]
