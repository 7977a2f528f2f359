"""All metrics by name, in the order of tables, and their evaluation."""

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
"All metrics by name, in the order of tables."


def evaluate(of: MetricInput, names: Iterable[str] = METRICS) -> dict[str, Value]:
    """Return the values of the metrics `names` for one run."""
    return {name: METRICS[name].compute(of) for name in names}
