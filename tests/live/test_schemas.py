"""Types that travel: relays that do not know an event's type learn it and do not cut the network."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.declare import declare_type
from roamcast.live import schemas
from roamcast.live.link.packets import Port
from roamcast.live.schemas import DefinitionError, TypeExchange, read_definition, write_definition
from tests.content.generate import any_type
from tests.live.medium import until
from tests.live.network import ALERT, FIELDS, alert, collect, line, network, run


@pytest.mark.parametrize("protocol", ["raft-cbr", "flooding", "cbr", "tpsr"])
def test_a_relay_without_the_type_learns_it_and_passes_events_on(protocol):
    async def story():
        types = [{"alert": FIELDS}, {}, {}, {"alert": FIELDS}]
        async with network(4, line(4), protocol=protocol, types=types) as nodes:
            publisher, *relays, subscriber = nodes
            got = []
            reader = asyncio.create_task(collect(subscriber.subscribe("/alert[level > 3]"), got))
            level = 4
            while len(got) < 3:
                await publisher.publish(alert(level))
                level += 1
                await asyncio.sleep(0.1)
            reader.cancel()
            assert all(relay.types.by_name["alert"] is ALERT for relay in relays)
            assert all(relay.types.parked_bytes == 0 for relay in relays)

    run(story)


def test_types_are_kept_on_disk(tmp_path):
    async def story():
        types, states = [{"alert": FIELDS}, {}], [tmp_path / "0", tmp_path / "1"]
        async with network(2, line(2), protocol="flooding", types=types, state=states) as (publisher, relay):
            while "alert" not in relay.types.by_name:
                await publisher.publish(alert(1))
                await asyncio.sleep(0.05)
        async with network(2, [], protocol="flooding", types=[{}, {}], state=states) as (_, relay):
            assert relay.types.by_name["alert"] is ALERT

    run(story)


class Wire:
    """A link that notes what it is given."""

    def __init__(self):
        self.sent = []

    def send(self, port, payload, to, token):
        self.sent.append((port.name, payload, to))

    def broadcast(self, port, payload):
        self.sent.append((port.name, payload, None))


def test_a_definition_that_nobody_asked_for_or_that_is_another_is_not_taken():
    async def story():
        types = TypeExchange(Wire(), {}, lambda port, payload, sender: None, None)
        types.take(write_definition(ALERT))
        assert not types.by_fingerprint
        types.park(Port.ROUTER, b"message", 7, ALERT.fingerprint)
        types.take(write_definition(declare_type("alert", {"level": "string"})))
        types.take(b"garbage")
        assert not types.by_fingerprint and types.parked_bytes == 512 + 7
        types.take(write_definition(ALERT))
        assert list(types.by_fingerprint.values()) == [ALERT] and types.parked_bytes == 0
        types.close()

    run(story)


def test_parked_messages_and_requests_are_bounded():
    async def story():
        types = TypeExchange(Wire(), {}, lambda port, payload, sender: None, None)
        for n in range(1000):
            types.park(Port.SIGNED, bytes(1000), 7, n.to_bytes(8, "big"))
            assert types.parked_bytes <= schemas.MOST_PARKED
            assert len(types._asked) <= schemas.MOST_ASKED
        types.close()

    run(story)


def test_a_type_that_nobody_has_is_given_up(monkeypatch):
    monkeypatch.setattr(schemas, "ASK_EVERY", 0.01)

    async def story():
        types = TypeExchange(Wire(), {}, lambda port, payload, sender: None, None)
        types.park(Port.ROUTER, b"message", 7, bytes(8))
        await until(lambda: types.given_up == 1)
        assert types.parked_bytes == 0 and not types._asked

    run(story)


@given(st.randoms(use_true_random=False))
def test_every_type_reads_back_with_its_fingerprint(random):
    type = any_type(random)
    assert read_definition(write_definition(type)) is type


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    )
)
def test_any_other_json_is_refused_or_a_type(value):
    for data in (
        json.dumps(value),
        json.dumps(["alert", {"level": value}]),
        json.dumps(["alert", {"a": {"kind": value}}]),
    ):
        try:
            found = read_definition(data.encode())
        except DefinitionError:
            continue
        assert read_definition(write_definition(found)) is found
