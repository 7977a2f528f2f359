"""The section `mqtt` of a node's configuration."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from roamcast.live.gateway.topics import TopicTemplate


class _MqttSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishRule(_MqttSection):
    """Messages of the broker that are published in the mesh."""

    topic: str
    "Topic of the messages, as `sensors/{station}/level`; a name in braces is a field of the event."
    type: str
    "Event type; the payload is a JSON object with the other fields."
    receivers: int = Field(0, ge=0)
    """Nodes that must have acknowledged an event, beside all to which it was addressed, before its message is
    acknowledged to the broker. With 0, the message of an event that nobody wants is acknowledged."""

    @field_validator("topic")
    @classmethod
    def _check(cls, topic: str) -> str:
        TopicTemplate(topic)
        return topic


class SubscribeRule(_MqttSection):
    """Events of the mesh that are published at the broker."""

    filter: str
    "The subscription, in XPath."
    topic: str
    "Topic of the messages; a name in braces is a field of the event."
    retain: bool = False

    @field_validator("topic")
    @classmethod
    def _check(cls, topic: str) -> str:
        TopicTemplate(topic)
        return topic


class MqttSettings(_MqttSection):
    """How a node is a client of a broker."""

    broker: str = "127.0.0.1:1883"
    "Address of the broker."
    client: str = Field("", max_length=64)
    "Client id; `roamcast-` and the node id if empty."
    username: str = ""
    password: Path | None = None
    "File with the password."
    ca: Path | None = None
    "File of the certificate authority; the connection then uses TLS."
    publish: tuple[PublishRule, ...] = ()
    subscribe: tuple[SubscribeRule, ...] = ()
    settle: float = Field(10.0, ge=0)
    """Seconds after the start in which a message waits until a node that wants it is known; a node that has
    just started does not know the subscriptions of others yet."""
    requests: str = "roamcast/subscribe"
    "Below this topic clients of the broker ask for further subscriptions; empty: they cannot."
