"""A node as applications see it: receipts, back-pressure, lifetimes, restarts."""

import asyncio

import pytest

from roamcast.content.errors import ContentError
from roamcast.live import Config, Full, LiveError, Node, NotConfirmed
from roamcast.live.link.bearer import PeerBearer
from roamcast.live.node import MOST_EVENT
from tests.live.medium import Medium, until
from tests.live.network import FIELDS, alert, collect, join, line, network, run


def test_a_receipt_is_acknowledged_by_exactly_the_subscribers_that_match():
    async def story():
        async with network(4, [(0, 1), (1, 2), (1, 3)]) as (publisher, _, two, three):
            for node, wanted in ((two, "/alert[level > 3]"), (three, "/alert[level > 7]")):
                node.subscribe(wanted)
            publisher.advertise("/alert")
            await until(lambda: len(publisher.router.publishing.sessions) == 2)
            low, middle, high = [await publisher.publish(alert(level)) for level in (1, 5, 9)]
            assert await low.acknowledged() == frozenset()
            assert await middle.acknowledged() == {two.id}
            assert await high.acknowledged() == {two.id, three.id}
            assert two.delivered == 2 and three.delivered == 1

    run(story)


def test_a_protocol_without_acknowledgements_says_so():
    async def story():
        async with network(1, [], protocol="flooding") as (node,):
            receipt = await node.publish(alert(1))
            with pytest.raises(NotConfirmed, match="flooding does not acknowledge"):
                await receipt.acknowledged()

    run(story)


def test_local_subscriptions_get_the_events_of_their_own_node():
    async def story():
        async with network(1, []) as (node,):
            subscription = node.subscribe("/alert[level > 3]")
            for level in (2, 4):
                await node.publish(alert(level))
            assert (await subscription.next_publication()).event == alert(4)

    run(story)


def test_a_full_router_refuses_or_makes_the_application_wait():
    async def story():
        medium = Medium()
        medium.join(0, 1)
        config = Config(types={"alert": FIELDS}, parameters={"unacknowledged_events": 3})
        async with (
            Node(config, [medium.bearer(0)]) as publisher,
            Node(config, [medium.bearer(1)]) as subscriber,
        ):
            got = []
            reader = asyncio.create_task(collect(subscriber.subscribe("/alert"), got))
            publisher.advertise("/alert")
            await until(lambda: publisher.router.publishing.sessions)
            medium.part(0, 1)
            for level in range(3):
                await publisher.publish(alert(level))
            with pytest.raises(Full, match="too many events are unacknowledged"):
                await publisher.publish(alert(3), wait=False)
            waiting = asyncio.create_task(publisher.publish(alert(4)))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            medium.join(0, 1)
            receipt = await waiting
            assert await receipt.acknowledged() == {subscriber.id}
            await until(lambda: got == [0, 1, 2, 4])
            reader.cancel()

    run(story)


def test_an_event_whose_lifetime_is_over_is_given_up_and_later_ones_arrive():
    async def story():
        medium = Medium()
        medium.join(0, 1)
        config = Config(types={"alert": FIELDS})
        async with (
            Node(config, [medium.bearer(0)]) as publisher,
            Node(config, [medium.bearer(1)]) as subscriber,
        ):
            got = []
            reader = asyncio.create_task(collect(subscriber.subscribe("/alert"), got))
            publisher.advertise("/alert")
            await until(lambda: publisher.router.publishing.sessions)
            medium.part(0, 1)
            short = await publisher.publish(alert(1), lifetime=0.2)
            long = await publisher.publish(alert(2))
            with pytest.raises(NotConfirmed, match=f"not acknowledged by {subscriber.id}"):
                await short.acknowledged()
            medium.join(0, 1)
            await long.acknowledged()
            await until(lambda: got[-1:] == [2])  # before it 1, if a queue of the link or of DSR still had it
            assert got in ([2], [1, 2])
            reader.cancel()

    run(story)


def test_a_publisher_that_restarts_is_heard_and_a_subscriber_that_restarts_gets_new_events(tmp_path):
    async def story():
        medium = Medium()
        medium.join(0, 1)
        configs = [Config(types={"alert": FIELDS}, state=tmp_path / name) for name in ("a", "b")]
        ids = set()
        async with Node(configs[1], [medium.bearer(1)]) as subscriber:
            got = []
            reader = asyncio.create_task(collect(subscriber.subscribe("/alert"), got))
            for start in range(3):
                async with Node(configs[0], [medium.bearer(0)]) as publisher:
                    ids.add(publisher.id)
                    assert publisher.host.incarnation == start
                    publisher.advertise("/alert")
                    await until(lambda node=publisher: node.router.publishing.sessions)
                    receipt = await publisher.publish(alert(start))
                    await receipt.acknowledged()
                    await until(lambda expected=start: got[-1:] == [expected])
            reader.cancel()
        assert got == [0, 1, 2] and len(ids) == 1

    run(story)


def test_a_node_that_stops_ends_subscriptions_and_receipts():
    async def story():
        medium = Medium()
        medium.join(0, 1)
        config = Config(types={"alert": FIELDS})
        async with Node(config, [medium.bearer(1)]) as subscriber:
            subscriber.subscribe("/alert")
            async with Node(config, [medium.bearer(0)]) as publisher:
                publisher.advertise("/alert")
                await until(lambda: publisher.router.publishing.sessions)
                medium.part(0, 1)
                receipt = await publisher.publish(alert(1))
                own = publisher.subscribe("/alert")
            with pytest.raises(NotConfirmed, match="the node stopped"):
                await receipt.acknowledged()
            assert [event async for event in own] == []

    run(story)


def test_a_slow_application_loses_the_oldest_events_and_can_see_how_many():
    async def story():
        async with network(1, []) as (node,):
            subscription = node.subscribe("/alert")
            subscription._most = 3
            for level in range(5):
                await node.publish(alert(level))
            subscription.close()
            assert [event["level"] async for event in subscription] == [2, 3, 4]
            assert subscription.dropped == 2

    run(story)


def test_events_for_a_slow_application_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr("roamcast.live.subscription.MOST_BYTES", 1 << 20)

    async def story():
        async with network(1, []) as (node,):
            slow = node.subscribe("/alert")
            for level in range(60):
                await node.publish(alert(level, text="x" * 10_000))
            slow.close()
            left = [event["level"] async for event in slow]
            assert left == list(range(60 - len(left), 60)) and slow.dropped == 60 - len(left)
            assert 5 <= len(left) <= (1 << 20) // (8 * 10_000)

    run(story)


def test_equal_subscriptions_of_a_node_share_one_in_the_router():
    async def story():
        async with network(1, []) as (node,):
            one, two = node.subscribe("/alert[level > 3]"), node.subscribe("/alert[level > 3]")
            assert len(node.router.interests) == 1
            one.close()
            assert len(node.router.interests) == 1
            two.close()
            two.close()
            assert not node.router.interests

    run(story)


def test_neighbours_learn_names_and_notice_other_protocols():
    async def story():
        async with network(3, [(0, 1), (0, 2)], protocol=["raft-cbr", "raft-cbr", "flooding"]) as (
            a,
            b,
            other,
        ):
            await until(lambda: b.id in a.greeting.known and other.id in a.opener.foreign)
            assert a.greeting.known[b.id].name == "n1"
            assert other.id not in a.link.peers

    run(story)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "no link"),
        ({"listen": "127.0.0.1:0", "protocol": "gpsr-unicast"}, "gpsr-unicast needs positions"),
        ({"listen": "127.0.0.1:0", "protocol": "rafd-cbr"}, "did you mean 'raft-cbr'"),
        ({"listen": "127.0.0.1"}, "is not an address with a port"),
        (
            {"listen": "127.0.0.1:0", "parameters": {"renew": "5 s", "expire": "6 s"}},
            "must exceed two renewal intervals",
        ),
        ({"listen": "127.0.0.1:0", "types": {"alert": {"level": "number"}}}, "'number' is not a field type"),
        ({"interfaces": ("wlan77",)}, "no network interface"),
        ({"listen": "127.0.0.1:0", "key": "missing.key"}, "no such file"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_line(settings, complaint):
    async def story():
        with pytest.raises(Exception, match=complaint) as caught:
            async with Node(Config(**settings)):
                pass
        assert "\n" not in str(caught.value)

    run(story)


def test_an_event_over_the_limit_or_an_unknown_type_is_refused():
    async def story():
        async with network(1, []) as (node,):
            await node.publish(alert(1, "x" * (MOST_EVENT - 100)))
            with pytest.raises(LiveError, match="are the most"):
                await node.publish(alert(1, "x" * MOST_EVENT))
            with pytest.raises(ContentError, match="known: alert"):
                node.subscribe("/alarm")

    run(story)


def test_an_event_is_padded_to_the_size_that_is_asked_for():
    async def story():
        async with network(2, [(0, 1)], protocol="flooding") as (publisher, subscriber):
            subscription = subscriber.subscribe("/alert")
            plain, padded = [(await publisher.publish(alert(1), size=size)).publication for size in (0, 700)]
            assert plain.size < padded.size == 700
            arrived = [await subscription.next_publication() for _ in range(2)]
            assert [each.size for each in arrived] == [plain.size, 700]
            with pytest.raises(LiveError, match="are the most"):
                await publisher.publish(alert(1), size=MOST_EVENT + 1)

    run(story)


def test_a_large_event_crosses_two_hops():
    async def story():
        async with network(3, line(3)) as (publisher, _, subscriber):
            subscription = subscriber.subscribe("/alert")
            publisher.advertise("/alert")
            await until(lambda: publisher.router.publishing.sessions)
            receipt = await publisher.publish(alert(1, "x" * (MOST_EVENT - 100)))
            assert await receipt.acknowledged() == {subscriber.id}
            assert len((await subscription.next_publication()).event["text"]) == MOST_EVENT - 100

    run(story)


def test_one_state_folder_serves_one_node_at_a_time(tmp_path):
    async def story():
        config = Config(state=tmp_path / "state")
        async with Node(config, [PeerBearer(("127.0.0.1", 0), [])]):
            with pytest.raises(LiveError, match="in use by another node"):
                async with Node(config, [PeerBearer(("127.0.0.1", 0), [])]):
                    pass
        async with Node(config, [PeerBearer(("127.0.0.1", 0), [])]) as again:
            assert again.host.incarnation == 1

    run(story)


def test_a_late_joiner_is_found_by_its_frames():
    async def story():
        async with network(3, [(0, 1)]) as (publisher, _, late):
            got = []
            reader = asyncio.create_task(collect(late.subscribe("/alert"), got))
            await publisher.publish(alert(1))
            join(publisher.link._bearers[0], late.link._bearers[0])
            await until(lambda: got == [1])  # RAFT-CBR's `recall`: it was wanted when it was published
            reader.cancel()

    run(story)
