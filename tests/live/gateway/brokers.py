"""Real mosquitto brokers, and nodes beside them."""

import asyncio
import json
import shutil
import signal
import socket

import pytest

needs_mosquitto = pytest.mark.skipif(
    not all(map(shutil.which, ("mosquitto", "mosquitto_pub", "mosquitto_sub"))),
    reason="mosquitto and its clients are not installed",
)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    """A mosquitto process that keeps its sessions on disk."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        folder.chmod(0o777)
        self.port = free_port()
        self.process = None
        (folder / "mosquitto.conf").write_text(
            f"user root\nlistener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {folder}/\nautosave_interval 1\nautosave_on_changes true\n"
        )

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            *("mosquitto", "-c", str(self.folder / "mosquitto.conf")),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        for _ in range(500):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return
        raise AssertionError("mosquitto does not listen")

    async def stop(self, how=signal.SIGTERM):
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(how)
            await self.process.wait()

    async def publish(self, topic, message, *options):
        """Publish with mosquitto_pub, QoS 1."""
        process = await asyncio.create_subprocess_exec(
            *("mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", topic, "-m", json.dumps(message)),
            *options,
        )
        assert await process.wait() == 0

    async def listen(self, topic):
        """Start mosquitto_sub with a session; return its process."""
        return await asyncio.create_subprocess_exec(
            *("mosquitto_sub", "-p", str(self.port), "-q", "1", "-t", topic, "-c", "-i", "listener"),
            *("-V", "5", "-x", "1000"),
            stdout=asyncio.subprocess.PIPE,
        )
