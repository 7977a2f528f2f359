"""Traits that a protocol declares, so that its facts can be interpreted without knowing the protocol."""

from __future__ import annotations

from enum import Enum

import msgspec


class Dissemination(Enum):
    """The way in which events are forwarded; the value is the description for printed output."""

    FLOODED = "every node that receives an event may repeat it"
    TREE = "events follow the reverse paths of subscriptions, hop by hop"
    ROUTED = "events follow routes set up by flooded subscriptions"
    ADDRESSED = "events are sent to nodes whose subscriptions are known"


class DeliveryGuarantee(Enum):
    """The handling of lost events; the value is the description for printed output."""

    BEST_EFFORT = "a lost event may not be recovered"
    UNTIL_ACKNOWLEDGED = "an event is retransmitted until it is acknowledged"


class ProtocolTraits(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of a protocol with given parameters."""

    travel: Dissemination = Dissemination.FLOODED
    promise: DeliveryGuarantee = DeliveryGuarantee.BEST_EFFORT
    once: bool = True
    "Whether one incarnation of a router delivers each event at most once."
    ordered: bool = False
    "Whether an application receives each publisher's events in the order of publication."
    incomplete: str = ""
    "Why a message may not reach its destination although a path exists; empty if it always does."
    subscription_lease: float | None = None
    """Duration for which other nodes keep a subscription that is not renewed [s]; None: not stored, or no
    expiry."""
    recall: float = 0.0
    "How far back a subscription reaches [s]: events published that long before it was known are still sent."
    served_by: str = ""
    """The name of the state whose value is the node that receives events on behalf of this one; empty: the
    node itself."""
