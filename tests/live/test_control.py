"""The control socket: requests in lines, answers in lines, no request ends the node."""

import asyncio
import json
import stat
from contextlib import asynccontextmanager

import pytest

from roamcast.live.control import ask, listen
from roamcast.live.errors import LiveError
from tests.live.medium import until
from tests.live.network import line, network, run


@asynccontextmanager
async def served(tmp_path, **settings):
    async with (
        network(2, line(2), **settings) as (a, b),
        listen(a, tmp_path / "a"),
        listen(b, tmp_path / "b"),
    ):
        yield a, b


def test_publish_subscribe_and_top_by_socket(tmp_path):
    async def story():
        async with served(tmp_path) as (a, b):
            stream = ask(tmp_path / "b", {"do": "subscribe", "filter": "/alert[level > 3]"})
            assert await anext(stream) == {"subscribed": "/alert[level>=4]"}
            a.advertise("/alert")  # an event that is older than the subscription's arrival may be doubtful
            await until(lambda: a.router.publishing.sessions)
            event = {"alert": {"level": 5}}
            request = {"do": "publish", "event": event, "receivers": 1, "wait": 60}
            answers = [answer async for answer in ask(tmp_path / "a", request)]
            assert answers[1:] == [{"acknowledged": [b.id]}]
            delivered = await anext(stream)
            assert delivered == {"publisher": a.id, "id": answers[0]["published"], "event": event}
            [top] = [answer async for answer in ask(tmp_path / "a", {"do": "top"})]
            assert [each["node"] for each in top["neighbours"]] == [b.id]
            assert top["published"] == 1 and top["routes"] == {str(b.id): b.id} and not top["router_errors"]
            await stream.aclose()
            await until(lambda: not b.subscriptions)

    run(story)


def test_an_event_that_nobody_acknowledges_in_time_is_reported(tmp_path):
    async def story():
        async with served(tmp_path):
            request = {"do": "publish", "event": {"alert": {"level": 1}}, "receivers": 1, "wait": 0.1}
            answers = [answer async for answer in ask(tmp_path / "a", request)]
            missed = "acknowledged by 0 nodes within 0.1 s, expected 1; does a subscription match it?"
            assert answers[1] == {"error": missed, "acknowledged": []}

    run(story)


@pytest.mark.parametrize(
    "request_line",
    [
        b"\n",
        b"nonsense\n",
        b"[]\n",
        b"{}\n",
        b'{"do": "publish"}\n',
        b'{"do": "publish", "event": {"alarm": {}}}\n',
        b'{"do": "publish", "event": {"alert": {"level": "x"}}}\n',
        b'{"do": "publish", "event": {"alert": {"level": 1}}, "wait": "long"}\n',
        b'{"do": "subscribe", "filter": "/alert["}\n',
        b'{"do": "subscribe", "filter": 5}\n',
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
    ],
)
def test_a_wrong_request_is_answered_and_the_next_is_served(tmp_path, request_line):
    async def story():
        async with network(1, []) as (node,), listen(node, tmp_path / "c"):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "c", limit=1 << 22)
            writer.write(request_line + b'{"do": "top"}\n')
            assert "error" in json.loads(await reader.readline())
            assert json.loads(await reader.readline())["node"] == node.id
            writer.close()

    run(story)


def test_a_line_without_end_is_refused(tmp_path):
    async def story():
        async with network(1, []) as (node,), listen(node, tmp_path / "c"):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "c")
            writer.write(b"x" * 3_000_000)
            assert "error" in json.loads(await reader.readline())
            writer.close()
            [top] = [answer async for answer in ask(tmp_path / "c", {"do": "top"})]
            assert top["node"] == node.id

    run(story)


def test_the_socket_is_for_its_owner_and_for_one_node(tmp_path):
    async def story():
        path = tmp_path / "c"
        async with network(1, []) as (node,):
            async with listen(node, path):
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
                with pytest.raises(LiveError, match="another node answers"):
                    async with listen(node, path):
                        pass
            assert not path.exists()
            path.write_text("left by a node that was killed")
            async with listen(node, path):
                pass
            with pytest.raises(LiveError, match="no node answers"):
                await anext(ask(path, {"do": "top"}))

    run(story)
