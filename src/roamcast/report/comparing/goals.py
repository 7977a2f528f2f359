"""Goals: the metric that decides which protocol is best, by the name that `compare --goal` takes."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.metrics.declarations import METRICS
from roamcast.metrics.metric import Metric, Value
from roamcast.metrics.metric_input import MetricInput


def _of_one_run(of: MetricInput) -> Value:
    """Return None: the metric compares several runs, so one run has no value."""
    return None


DELAY_COMMON = Metric(
    "delay_common",
    "s",
    "less",
    "delay, mean over the expected pairs that all protocols delivered under the seed",
    "Delay of common deliveries",
    _of_one_run,
)
"The delay by which protocols are ranked: a protocol that delivers only easy pairs gains nothing by it."

SHOWN: dict[str, Metric] = METRICS | {DELAY_COMMON.name: DELAY_COMMON}
"All metrics that a comparison can show, by name."


class Goal(NamedTuple):
    """A metric that decides a comparison, and the words for it in a sentence."""

    metric: str
    superlative: str
    "What the best protocol does, after its name."
    comparative: str
    "What no other protocol does in a seed, after `no other protocol`."
    noun: str
    "The name of the metric in a sentence."


GOALS = {
    "delivery": Goal("delivery_rate", "serves this scenario best", "delivers more", "delivery rate"),
    "delay": Goal("delay_common", "is the fastest", "is faster", "delay of common deliveries"),
    "messages": Goal(
        "messages_per_delivery", "needs the fewest messages", "needs fewer", "messages per delivery"
    ),
    "airtime": Goal("airtime_per_delivery", "needs the least airtime", "needs less", "airtime per delivery"),
    "energy": Goal("energy_per_delivery", "needs the least energy", "needs less", "energy per delivery"),
}
"By name; costs count per delivery, so that a protocol which delivers little is not called cheap."
