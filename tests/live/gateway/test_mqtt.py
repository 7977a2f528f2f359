"""Clients of two brokers talk across the mesh: mosquitto beside node 0 and beside node 3, three hops away."""

import asyncio
import json
import signal

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from tests.live.gateway.brokers import Broker, needs_mosquitto
from tests.live.network import run
from tests.live.test_processes import Network

pytestmark = needs_mosquitto

TYPES = '\n[types.alert]\nlevel = "integer"\nstation = { kind = "string", optional = true }\n'
SOURCE = """
[mqtt]
broker = "{broker}"
publish = [{{ topic = "sensors/{{station}}", type = "alert" }}]
"""
SINK = """
[mqtt]
broker = "{broker}"
subscribe = [{{ filter = "/alert[level > 3]", topic = "mesh/{{station}}" }}]
"""


class Scene:
    """Four nodes in a line, with a broker beside the first and the last."""

    def __init__(self, folder, **faults):
        quiet = {"seed": 1, "loss": 0.0, "duplicates": 0.0, "corruption": 0.0, "delay": 0.0}
        self.network = Network(folder, 4, [(0, 1), (1, 2), (2, 3)], **quiet | faults)
        self.brokers = {0: Broker(folder / "broker0"), 3: Broker(folder / "broker3")}
        for node, section in ((0, SOURCE), (3, SINK)):
            file = folder / f"{node}.toml"
            text = file.read_text().split("\n[types")[0]
            file.write_text(text + section.format(broker=self.brokers[node].address) + TYPES)
        self.lines = []
        self.reader = None

    async def start(self):
        for broker in self.brokers.values():
            await broker.start()
        for node in range(4):
            await self.network.start(node)

    async def listen(self):
        process = await self.brokers[3].listen("mesh/#")
        self.reader = process, asyncio.create_task(self.read(process))

    async def read(self, process):
        while line := await process.stdout.readline():
            self.lines.append(json.loads(line)["level"])

    async def stop_listening(self):
        process, task = self.reader
        process.kill()
        await process.wait()
        await task

    async def until(self, condition, seconds=60):
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.02)

    async def top(self, node):
        return await anext(self.network.ask(node, do="top"))

    async def acknowledged(self, count):
        """Wait until node 0 has acknowledged so many messages to its broker."""
        while (await self.top(0))["mqtt"]["inbound"].get("confirmed", 0) < count:
            await asyncio.sleep(0.05)

    async def stop(self):
        if self.reader is not None and self.reader[0].returncode is None:
            await self.stop_listening()
        await self.network.stop()
        for broker in self.brokers.values():
            await broker.stop(signal.SIGKILL)


def scene(story, folder, **faults):
    async def played():
        stage = Scene(folder, **faults)
        try:
            await stage.start()
            await story(stage)
        finally:
            await stage.stop()

    run(played, 200)


def test_paho_and_mosquitto_pub_reach_mosquitto_sub_three_hops_away(tmp_path):
    async def story(stage):
        await stage.listen()
        source = stage.brokers[0]
        await source.publish("sensors/north", {"level": 5})
        await source.publish("sensors/north", {"level": 2})
        client = Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", source.port)
        client.loop_start()
        sent = client.publish("sensors/south", json.dumps({"level": 7}), qos=1)
        await asyncio.to_thread(sent.wait_for_publish, 10)
        await stage.until(lambda: len(stage.lines) >= 2)
        client.disconnect()
        client.loop_stop()
        assert sorted(stage.lines) == [5, 7]  # level 2 is not wanted

    scene(story, tmp_path)


def test_qos_1_is_acknowledged_only_when_a_node_has_the_event(tmp_path):
    async def story(stage):
        await stage.listen()
        await stage.brokers[0].publish("sensors/a", {"level": 4})
        await stage.until(lambda: stage.lines == [4])
        await stage.acknowledged(1)
        stage.network.medium.cut |= {(1, 2), (2, 1)}
        await stage.brokers[0].publish("sensors/a", {"level": 5})
        await asyncio.sleep(1.5)
        state = (await stage.top(0))["mqtt"]["inbound"]
        assert state["waiting"] == 1 and state["confirmed"] == 1
        stage.network.medium.cut.clear()
        await stage.acknowledged(2)
        await stage.until(lambda: stage.lines == [4, 5])

    scene(story, tmp_path)


def test_a_client_asks_for_a_subscription_by_user_property(tmp_path):
    async def story(stage):
        sink = stage.brokers[3]
        asked = ("-V", "5", "-r", "-D", "publish", "user-property", "filter", "/alert[level < 3]")
        await sink.publish("roamcast/subscribe/low", "", *asked)
        process = await sink.listen("roamcast/events/low")
        stage.reader = process, asyncio.create_task(stage.read(process))
        while len((await stage.top(3))["subscriptions"]) < 2:
            await asyncio.sleep(0.05)
        for level in (1, 8, 2):
            await stage.brokers[0].publish("sensors/x", {"level": level})
        await stage.until(lambda: len(stage.lines) >= 2)
        assert stage.lines == [1, 2]

    scene(story, tmp_path)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_brokers_and_nodes_are_killed(tmp_path):
    """Each part is killed and restarted while messages are under way; 10 % of the datagrams are lost."""

    async def story(stage):
        await stage.listen()
        sent = []

        async def publish(count):
            for _ in range(count):
                sent.append(10 + len(sent))
                await stage.brokers[0].publish("sensors/a", {"level": sent[-1]})

        await publish(5)
        await stage.until(lambda: stage.lines)
        for node in (1, 3, 0, 2, 3, 0):
            await publish(3)
            await stage.network.kill(node)
            await publish(3)
            await stage.network.start(node)
        await publish(3)
        await stage.brokers[3].stop(signal.SIGKILL)  # the broker of the receivers
        await publish(3)
        await stage.network.kill(3)  # and the node that keeps its messages
        await stage.network.start(3)
        await stage.brokers[3].start()
        await stage.stop_listening()
        await stage.listen()
        await publish(2)
        await stage.brokers[0].stop()
        await stage.brokers[0].start()
        await publish(3)
        await stage.until(lambda: set(sent) <= set(stage.lines), 90)
        while (await stage.top(0))["mqtt"]["inbound"]["waiting"]:
            await asyncio.sleep(0.05)
        print(f"{len(sent)} sent, {len(stage.lines)} received, {len(set(stage.lines))} different")

    scene(story, tmp_path, loss=0.1)
