"""The causes of losses, their descriptions, and the mapping from drop reasons in the facts to causes."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Cause(Enum):
    """The cause of a lost event or an unsatisfied request; the value is the printed description."""

    # Proven: these follow from movement, outages and contents alone, for any protocol.
    UNREACHABLE = "no path to the subscriber existed until the end"
    APART = "no path to the subscriber existed while anyone was sending it"
    AT_THE_EDGE = "a path existed only at the very edge of the radio range"
    SUBSCRIBER_OFF = "the subscriber was switched off or had crashed"
    CUT_OFF = "nodes that were switched off or had crashed left no path"
    UNPUBLISHED = "no matching event was published in time"
    ASKED_LATE = "no path could have brought the subscription to the publisher in time"
    LATE = "it arrived after the request had ended"
    # Inferred from the transmissions and drops.
    CHANGED = "it arrived after the node had unsubscribed"
    PUBLISHER_OFF = "the publisher was switched off or had crashed before it had sent it to all"
    RELAY_OFF = "a node on the way was switched off or had crashed"
    NOT_YET_KNOWN = "the subscription was still on its way when the event was published"
    BACKLOG = "it waited for retransmission behind earlier events of the publisher"
    OUTDATED = "a copy was rejected because its position in the order was out of date"
    NOT_RECALLED = "the late subscription covered the event, but it was not sent"
    UNWANTED = "no subscription was installed at a node on the route"
    LAPSED = "a subscription had expired"
    NO_PARENT = "the subscription was not installed at any upstream neighbour"
    NOT_MEANT = "a forwarder skipped a subscribed neighbour"
    NO_ROUTE = "a node knew no route"
    COLLIDED = "a frame was lost to a collision"
    BIT_ERRORS = "a frame was lost to bit errors"
    DEAF = "the receiver was sending when the frame arrived"
    MOVED_AWAY = "a node was out of range when its neighbour sent it"
    RETRY_LIMIT = "the link layer reached its retry limit"
    QUEUE_FULL = "a queue was full"
    OVERLOADED = "a queue was full, or it still waited at the end of the run"
    TOO_LARGE = "a message was larger than a frame carries"
    TABLE_FULL = "a table or buffer was full"
    HOP_LIMIT = "it reached the hop limit"
    SUPPRESSED = "a node suppressed the repetition"
    MALFORMED = "a node rejected it as malformed"
    UNFINISHED = "it was still in transit at the end of the run"
    UNEXPLAINED = "unexplained"

    @property
    def key(self) -> str:
        """Return the identifier of the cause in JSON output and tables."""
        return self.name.lower()


class Diagnosis(NamedTuple):
    """A cause with the sentences that explain it."""

    cause: Cause
    story: list[str]
    proven: bool = False
    "Whether the cause follows from movement, outages and contents alone, for any protocol."


FRAME_LOSSES = {
    "collided": Cause.COLLIDED,
    "captured": Cause.COLLIDED,
    "weak": Cause.COLLIDED,
    "bit_errors": Cause.BIT_ERRORS,
    "deaf": Cause.DEAF,
}
"Causes of frames that arrived at a node and were not received, by the reason in the facts."

DROP_CAUSES = {
    "unwanted": Cause.UNWANTED,
    "expired": Cause.LAPSED,
    "no_route": Cause.NO_ROUTE,
    "hop_limit": Cause.HOP_LIMIT,
    "table_full": Cause.TABLE_FULL,
    "malformed": Cause.MALFORMED,
    "suppressed": Cause.SUPPRESSED,
    "queue_full": Cause.QUEUE_FULL,
    "retry_limit": Cause.RETRY_LIMIT,
    "radio_off": Cause.RELAY_OFF,
    "unresolved": Cause.RETRY_LIMIT,
    "too_large": Cause.TOO_LARGE,
    "duty_cycle": Cause.QUEUE_FULL,
}
"Causes of messages that a router or its link layer dropped, by the reason in the facts."

LINK_DROPS = ("queue_full", "retry_limit", "radio_off", "unresolved", "too_large")
"Reasons of the link layer among these; their rows name the next hop, those of routers the destination."

RETRIES_ENDED = "reached its retry limit"
"Predicate of a sentence on a link that discarded a unicast message after its last retry."

_DESCRIPTIONS = {
    "unwanted": "no installed subscription matched it",
    "expired": "the state needed to forward it had expired",
    "no_route": "no route was known",
    "hop_limit": "it reached the hop limit",
    "table_full": "a table or buffer was full",
    "malformed": "it was rejected as malformed",
    "suppressed": "the router suppressed the repetition",
    "queue_full": "the link's queue was full",
    "retry_limit": f"the link {RETRIES_ENDED}",
    "radio_off": "the radio was off",
    "unresolved": "the neighbour's address was not resolved in time",
    "too_large": "the message was larger than a frame carries",
    "duty_cycle": "the queue was full while the duty cycle forbade to send",
}


def describe_reason(reason: str) -> str:
    """Return the description of a drop reason, or the reason itself if it is unknown."""
    return _DESCRIPTIONS.get(reason, reason)
