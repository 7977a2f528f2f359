"""Insiders, with the network key, that publish under another's id or alter events: refused and counted."""

import asyncio

import msgspec
import pytest

from roamcast.live.security.signatures import SignedPublication, carried
from roamcast.routing.router import Publication
from roamcast.wire.message import unwrap
from tests.live.medium import until
from tests.live.network import alert, collect, line, network, run


async def start(publisher, subscriber, got):
    """Subscribe, and publish events until one arrives; return the reader and the next level."""
    reader = asyncio.create_task(collect(subscriber.subscribe("/alert[level > 0]"), got))
    publisher.advertise("/alert")
    level = 1
    while not got:
        await publisher.publish(alert(level))
        level += 1
        await asyncio.sleep(0.1)
    return reader, level


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("protocol", ["flooding", "raft-cbr"])
def test_signed_events_cross_two_hops_and_a_relay_that_learns_their_type(protocol, verify):
    async def story():
        types = [{"alert": {"level": "integer"}}, {}, {"alert": {"level": "integer"}}]
        async with network(
            3, line(3), protocol=protocol, types=types, require_signatures=True, verify=verify
        ) as nodes:
            publisher, _, subscriber = nodes
            got = []
            event = publisher.types.by_name["alert"]
            reader = asyncio.create_task(collect(subscriber.subscribe("/alert"), got))
            level = 0
            while len(got) < 5:
                await publisher.publish(event(level=level))
                level += 1
                await asyncio.sleep(0.05)
            reader.cancel()
            assert len(set(got)) == len(got)
            for node in nodes:
                assert not node.malformed
                assert not {"unsigned", "bad_signature", "other_key"} & set(node.host.drops)

    run(story)


@pytest.mark.parametrize("verify", [False, True])
def test_a_forged_publication_is_refused_and_counted_and_the_true_one_still_delivered(verify):
    async def story():
        edges = [*line(3), (2, 3)]  # publisher, relay, subscriber; an insider beside the subscriber
        async with network(4, edges, protocol="flooding", require_signatures=True, verify=verify) as nodes:
            publisher, _, subscriber, insider = nodes
            got = []
            reader, level = await start(publisher, subscriber, got)
            await until(lambda: len(got) == level - 1)
            receipt = await publisher.publish(alert(level))
            await until(lambda: level in got)
            number = receipt.publication.sequence + 1
            stolen = receipt.publication.proof
            own = insider.signatures.sign(Publication(publisher.id, number, alert(100)))
            assert own.proof != stolen
            for forged in (
                own,
                SignedPublication(publisher.id, number, alert(101), proof=stolen),
                Publication(publisher.id, number, alert(102)),
            ):
                insider.router.publish(forged)
            await until(
                lambda: sum(subscriber.host.drops[each] for each in ("bad_signature", "unsigned")) == 3
            )
            assert subscriber.host.drops["bad_signature"] == 2
            following = await publisher.publish(alert(level + 1))
            assert following.publication.sequence == number  # the number that the insider has tried to take
            await until(lambda: level + 1 in got)
            reader.cancel()
            assert sorted(got) == list(range(1, level + 2))

    run(story)


def test_without_signatures_the_same_insider_succeeds():
    async def story():
        async with network(3, line(3), protocol="flooding") as (publisher, subscriber, insider):
            got = []
            reader, _ = await start(publisher, subscriber, got)
            insider.router.publish(Publication(publisher.id, 1 << 20, alert(100)))
            await until(lambda: 100 in got)
            reader.cancel()

    run(story)


def altering(send):
    """Return a way to send that replaces the event of each publication and keeps the signature."""

    def altered(message, *to):
        found, inner = carried(message), unwrap(message)
        if found is not None:
            other = SignedPublication(
                found.publisher, found.sequence, alert(1000), found.size, proof=found.proof
            )
            msgspec.structs.force_setattr(inner, "publication", other)
        send(message, *to)
        if found is not None:
            msgspec.structs.force_setattr(inner, "publication", found)

    return altered


@pytest.mark.parametrize("protocol", ["flooding", "raft-cbr"])
def test_events_that_a_relay_alters_are_refused_and_raft_delivers_the_true_ones_later(protocol):
    async def story():
        async with network(3, line(3), protocol=protocol, require_signatures=True) as nodes:
            publisher, relay, subscriber = nodes
            got = []
            reader, level = await start(publisher, subscriber, got)
            honest = relay.host.send, relay.host.broadcast
            relay.host.send, relay.host.broadcast = map(altering, honest)
            for each in range(level, level + 3):
                await publisher.publish(alert(each))
            await until(lambda: subscriber.host.drops["bad_signature"] >= 3)
            relay.host.send, relay.host.broadcast = honest
            if protocol == "raft-cbr":
                await until(lambda: level + 2 in got)
                assert got == list(range(got[0], level + 3))
            reader.cancel()
            assert 1000 not in got

    run(story)
