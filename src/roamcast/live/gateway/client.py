"""The connection to a broker: paho's client in its thread, with callbacks in the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from roamcast.live.config import parse_address
from roamcast.live.errors import LiveError
from roamcast.live.gateway.settings import MqttSettings

_log = logging.getLogger("roamcast.live")

RECEIVE_MAXIMUM = 64
"Messages that the broker sends before it waits for acknowledgements."
KEEP_ALIVE = 10
SESSION_EXPIRY = 0xFFFFFFFF
"Seconds for which the broker keeps messages for a node that is away: for ever."
LONGEST_WAIT = 2
"Seconds between attempts to connect."


class BrokerMessage(NamedTuple):
    """A message from the broker."""

    connection: int
    "Counts connections: an acknowledgement is valid in its own connection only."
    mid: int
    qos: int
    topic: str
    payload: bytes
    properties: dict[str, str]
    "User properties."


class BrokerClient:
    """A client with a session that survives restarts of both sides; messages are acknowledged by hand."""

    def __init__(
        self,
        settings: MqttSettings,
        client_id: str,
        topics: list[str],
        received: Callable[[BrokerMessage], object],
        confirmed: Callable[[int], object],
    ) -> None:
        """`received` and `confirmed` (a message id that the broker has) are called in the event loop."""
        try:
            from paho.mqtt.client import Client, MQTTv5
            from paho.mqtt.enums import CallbackAPIVersion
        except ModuleNotFoundError:
            raise LiveError("the MQTT gateway needs paho-mqtt: pip install 'roamcast[mqtt]'") from None
        self._loop = asyncio.get_running_loop()
        self._received, self._confirmed = received, confirmed
        self._topics = topics
        self.connection = 0
        self.connected = False
        self._client = client = Client(
            CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5, manual_ack=True
        )
        client.max_inflight_messages_set(RECEIVE_MAXIMUM)
        client.max_queued_messages_set(0)
        client.reconnect_delay_set(1, LONGEST_WAIT)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        if settings.username:
            password = None if settings.password is None else settings.password.read_text().strip()
            client.username_pw_set(settings.username, password)
        if settings.ca is not None:
            client.tls_set(str(settings.ca))
        self._address = parse_address(settings.broker)

    def start(self) -> None:
        """Connect, and again whenever the connection is lost."""
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        properties: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = SESSION_EXPIRY
        properties.ReceiveMaximum = RECEIVE_MAXIMUM
        host, port = self._address
        self._client.connect_async(host, port, keepalive=KEEP_ALIVE, clean_start=False, properties=properties)
        self._client.loop_start()

    async def stop(self) -> None:
        """Disconnect; the broker keeps the session."""
        self._client.disconnect()
        await asyncio.to_thread(self._client.loop_stop)

    def acknowledge(self, message: BrokerMessage) -> None:
        """Acknowledge a message to the broker, unless it came in an earlier connection."""
        if message.connection == self.connection and message.qos:
            self._client.ack(message.mid, message.qos)

    def publish(self, topic: str, payload: bytes, retain: bool, properties: Mapping[str, str]) -> int:
        """Publish a message with QoS 1; return its id, which `confirmed` gets."""
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        header: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        header.UserProperty = list(properties.items())
        header.ContentType = "application/json"
        return self._client.publish(topic, payload, qos=1, retain=retain, properties=header).mid

    # In paho's thread.

    def _on_connect(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        from paho.mqtt.subscribeoptions import SubscribeOptions

        if reason.is_failure:
            _log.error("the broker refuses the connection: %s", reason)
            return
        # In this thread, so that messages that follow belong to the new connection.
        self.connection += 1
        self.connected = True
        _log.info("connected to the broker at %s:%d", *self._address)
        if self._topics:
            client.subscribe([(topic, SubscribeOptions(qos=1, noLocal=True)) for topic in self._topics])

    def _on_disconnect(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        self.connected = False
        self.connection += 1
        _log.info("disconnected from the broker: %s", reason)

    def _on_message(self, client: Any, userdata: Any, message: Any) -> None:
        properties = dict(getattr(message.properties, "UserProperty", ()) or ())
        arrived = BrokerMessage(
            self.connection, message.mid, message.qos, message.topic, bytes(message.payload), properties
        )
        self._call(self._received, arrived)

    def _on_publish(self, client: Any, userdata: Any, mid: int, reason: Any, properties: Any) -> None:
        if reason is not None and reason.is_failure:
            _log.error("the broker refuses a message: %s", reason)
        self._call(self._confirmed, mid)

    def _call(self, action: Callable[[Any], object], argument: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(action, argument)
