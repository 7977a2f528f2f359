"""The law of both ODMRPs: on a still mesh without losses everyone who wants an event gets it, once.

Under every grouping, with filters at relays, and while subscriptions come and go.
"""

from functools import partial
from random import Random

import pytest

from roamcast.content.field_type import Decimal, Enumeration, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.incremental import METHODS
from roamcast.content.schema import EventType
from roamcast.routing.odmrp.odmrp import Odmrp
from roamcast.routing.odmrp.parameters import OdmrpParameters
from roamcast.routing.odmrp.pubsub.parameters import PubSubParameters
from roamcast.routing.odmrp.pubsub.pubsub import PubSubOdmrp
from roamcast.testing import Mesh

CATEGORIES, COMPOSERS = ("pop", "jazz", "classic"), ("Davis", "Evans", "Harrison", "Mozart")
CD = EventType("CD", {"category": Enumeration(CATEGORIES), "composer": String(), "price": Decimal()})
PUBLISHERS = (0, 5)


def pubsub(**parameters):
    return partial(PubSubOdmrp, parameters=PubSubParameters(spread=0.01, **parameters))


ROUTERS = {
    "odmrp, a channel each": Odmrp,
    "odmrp, one channel": partial(Odmrp, parameters=OdmrpParameters(channels="one")),
    "odmrp, events follow": partial(Odmrp, parameters=OdmrpParameters(piggyback=False)),
    **{method: pubsub(grouping=method, forwarding_filter=True, combine=False) for method in METHODS},
    "an event asks": pubsub(query_content="event", grouping="signature", combine=False),
    "events follow": pubsub(piggyback=False, query_content="event"),
    "summaries": pubsub(summary_bytes=64, forwarding_filter=True, clusters=2),
}


def draw_filter(r):
    category, composer = CD.category == r.choice(CATEGORIES), CD.composer == r.choice(COMPOSERS)
    price = CD.price < r.randrange(5, 40)
    return r.choice([category, composer, price, category & price, composer & price, category | composer])


def draw_event(r):
    return CD(category=r.choice(CATEGORIES), composer=r.choice(COMPOSERS), price=r.randrange(40))


@pytest.mark.parametrize("name", ROUTERS)
def test_everyone_who_wants_an_event_gets_it_once_while_subscriptions_come_and_go(name):
    r = Random(f"still/{name}")
    mesh = Mesh.grid(4, 3, ROUTERS[name], seed=r.randrange(1000))
    for publisher in PUBLISHERS:
        mesh.advertise(publisher, Filter.everything(CD))
    mesh.run(for_=1)
    subscriptions: list[tuple[int, Filter]] = []
    expected = []
    for _ in range(14):
        if len(subscriptions) > 4 and r.random() < 0.5:
            mesh.unsubscribe(*subscriptions.pop(r.randrange(len(subscriptions))))
        else:
            subscriptions.append((r.randrange(12), draw_filter(r)))
            mesh.subscribe(*subscriptions[-1])
        # Pub/Sub ODMRP tells publishers at once; ODMRP's new members wait for the next join request.
        mesh.run(for_=5.5 if name.startswith("odmrp") else r.choice((1.0, 1.0, 7.0)))
        for publisher in (*PUBLISHERS, r.choice(PUBLISHERS)):
            event = draw_event(r)
            sent = mesh.publish(publisher, event)
            wanting = {node for node, wanted in subscriptions if wanted.matches(event)} - {publisher}
            expected += [(node, sent.id) for node in wanting]
            mesh.run(for_=2.5 if name.endswith("follow") else 0.7)
    assert len(expected) >= 20
    assert sorted((d.node, d.publication.id) for d in mesh.deliveries) == sorted(expected)
