"""What a protocol declares of itself, so that its facts can be read without knowing its name."""

from __future__ import annotations

from enum import Enum

import msgspec


class Dissemination(Enum):
    """How events find their way; the value is how a person would say it."""

    FLOODED = "whoever hears an event may pass it on"
    TREE = "events go where wishes came from, hop by hop"
    ROUTED = "events go along routes that floods of wishes have laid"
    ADDRESSED = "events are sent to nodes that are known to want them"


class DeliveryGuarantee(Enum):
    """How far a protocol goes for an event; the value is how a person would say it."""

    BEST_EFFORT = "an event that is lost may stay lost"
    UNTIL_ACKNOWLEDGED = "an event is sent again until it is acknowledged"


class ProtocolTraits(msgspec.Struct, frozen=True, kw_only=True):
    """How a protocol behaves with the parameters given."""

    travel: Dissemination = Dissemination.FLOODED
    promise: DeliveryGuarantee = DeliveryGuarantee.BEST_EFFORT
    once: bool = True
    "Whether no application gets an event twice from one incarnation of its router."
    ordered: bool = False
    "Whether an application gets each publisher's events in the order of their publication."
    subscription_lease: float | None = None
    "Seconds that others remember a wish which is not renewed; None: wishes are not told, or do not lapse."
    recall: float = 0.0
    "Seconds that a wish reaches back: what was published before it was known is still sent."
    served_by: str = ""
    "The state whose value is the node that events for this one are sent to; empty: they are sent to itself."
