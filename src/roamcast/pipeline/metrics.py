"""The metrics of a run: name, unit and meaning, declared once; `measure` computes them.

A run is measured from its scenario's warm-up on. What happens to an event is counted if the event was
published after the warm-up; what is sent is counted if it was sent after the warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One number that describes a run."""

    name: str
    unit: str
    better: Literal["more", "less", ""]
    "Which way is good; empty where neither is."
    meaning: str
    title: str
    "What figures and tables call it."


def _declare(*metrics: Metric) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


METRICS = _declare(
    Metric("publications", "", "", "events published", "Publications"),
    Metric(
        "expected", "", "", "pairs of an event and a node that wanted it when it was published", "Expected"
    ),
    Metric("delivered", "", "more", "expected pairs that were delivered, however late", "Delivered"),
    Metric("delivery_rate", "", "more", "delivered / expected", "Delivery rate"),
    Metric(
        "delivery_rate_mean",
        "",
        "more",
        "mean over events that someone expected of the share of its expectants that got it",
        "Delivery rate, mean per event",
    ),
    Metric("false_deliveries", "", "less", "pairs delivered that were not expected", "False deliveries"),
    Metric("duplicate_deliveries", "", "less", "deliveries after the first of their pair", "Duplicates"),
    Metric("delay_mean", "s", "less", "from publication to first delivery, mean over delivered", "Delay"),
    Metric("delay_p50", "s", "less", "median of that delay", "Delay, median"),
    Metric("delay_p90", "s", "less", "90th percentile of that delay", "Delay, 90th percentile"),
    Metric("delay_p95", "s", "less", "95th percentile of that delay", "Delay, 95th percentile"),
    Metric("delay_p99", "s", "less", "99th percentile of that delay", "Delay, 99th percentile"),
    Metric("delay_max", "s", "less", "longest of that delay", "Delay, longest"),
    Metric("requests", "", "", "interests that began after the warm-up", "Requests"),
    Metric(
        "answer_rate",
        "",
        "more",
        "share of requests that a matching delivery met before they ended",
        "Requests answered",
    ),
    Metric(
        "response_delay",
        "s",
        "less",
        "from a request to the first matching delivery at its node, mean over answered requests",
        "Response delay",
    ),
    Metric(
        "messages", "", "less", "messages that nodes sent, each once whatever the link's retries", "Messages"
    ),
    Metric("messages_event", "", "less", "of these, events", "Event messages"),
    Metric("messages_subscription", "", "less", "of these, subscriptions", "Subscription messages"),
    Metric("messages_routing", "", "less", "of these, routing and advertisements", "Routing messages"),
    Metric("messages_control", "", "less", "of these, control (ACK, NACK, PING ...)", "Control messages"),
    Metric("messages_failed", "", "less", "unicast messages that the link gave up", "Messages given up"),
    Metric("frames", "", "less", "data frames put on the air, retries counted", "Frames"),
    Metric("bytes", "B", "less", "sizes of the messages, summed over their frames", "Bytes"),
    Metric("airtime", "s", "less", "spent on data and RTS frames, summed over nodes", "Airtime"),
    Metric(
        "normalised_overhead",
        "",
        "less",
        "messages, an event message weighing gamma others",
        "Normalised overhead",
    ),
    Metric("overhead_per_event", "", "less", "messages per event published", "Messages per event"),
    Metric(
        "transmissions_per_delivery",
        "",
        "less",
        "messages per expected pair delivered",
        "Messages per delivery",
    ),
    Metric(
        "energy",
        "J",
        "less",
        "Feeney's linear model over all frames; receivers of a frame are the sender's neighbours, "
        "on the mean over nodes and time",
        "Energy",
    ),
    Metric("neighbours", "", "", "nodes in radio range of a node, mean over nodes and time", "Neighbours"),
    Metric("drops", "", "", "messages that went no further, with a recorded cause", "Drops"),
    Metric(
        "drops_link",
        "",
        "less",
        "of these, lost by the link: collision, retry limit, queue",
        "Lost by the link",
    ),
)
"Every metric by name, in the order in which tables show them."
