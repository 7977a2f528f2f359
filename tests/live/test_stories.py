"""One story for every built-in router: over two hops of loopback sockets, what is wanted arrives once."""

import asyncio

import pytest

from roamcast.routing import catalogue
from tests.live.medium import until
from tests.live.network import alert, collect, line, network, run

WANTED = 5


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("protocol", catalogue.names())
def test_events_that_match_cross_two_hops_and_others_are_not_delivered(protocol, signed):
    async def story():
        router = catalogue.find(protocol)
        places = [(0.0, 0.0), (150.0, 0.0), (300.0, 0.0)] if router.needs_location else None
        settings = {"protocol": protocol, "position": places, "require_signatures": signed}
        async with network(3, line(3), **settings) as nodes:
            publisher, _, subscriber = nodes
            publisher.router.audience = lambda publication: [subscriber.id]
            subscription = subscriber.subscribe("/alert[level > 3]")
            publisher.advertise("/alert")
            got, published = [], 0

            reader = asyncio.create_task(collect(subscription, got))
            while len(got) < WANTED:
                published += 1
                await publisher.publish(alert(level=published))
                await asyncio.sleep(0.1)
            await until(lambda: len(got) >= WANTED)
            reader.cancel()
            assert len(set(got)) == len(got)
            assert set(got) <= set(range(4, published + 1))
            assert router.knows_audience or subscriber.delivered == len(got)
            assert not subscriber.malformed and not subscriber.host.drops["unsigned"]
            if protocol == "raft-cbr":
                assert got == list(range(4, 4 + len(got)))

    run(story)
