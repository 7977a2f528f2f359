"""Every metric by name, in the order in which tables show them."""

from __future__ import annotations

from collections.abc import Iterable

from roamcast.metrics.communities import COMMUNITIES
from roamcast.metrics.cost import COST
from roamcast.metrics.delivery import DELIVERY
from roamcast.metrics.dissemination import DISSEMINATION
from roamcast.metrics.metric import Metric, Value
from roamcast.metrics.metric_input import MetricInput
from roamcast.metrics.requests import REQUESTS

METRICS: dict[str, Metric] = {**DELIVERY, **REQUESTS, **COMMUNITIES, **COST, **DISSEMINATION}
"Every metric by name, in the order in which tables show them."


def evaluate(of: MetricInput, names: Iterable[str] = METRICS) -> dict[str, Value]:
    """The metrics called `names` of one run."""
    return {name: METRICS[name].compute(of) for name in names}
