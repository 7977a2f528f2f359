"""`roamcast run` and the pipeline mean the same by a metric: both equal the same slow twins."""

import metric_twins
import pytest
from invented_facts import invent

from roamcast.facts.metrics import measure
from roamcast.facts.tables import Facts, Run

SAME = {
    "publications": "publications",
    "expected": "expected",
    "delivered": "delivered",
    "delivery_rate": "delivery_rate",
    "unexpected": "false_deliveries",
    "duplicates": "duplicate_deliveries",
    "delay_mean": "delay_mean",
    "delay_p50": "delay_p50",
    "delay_p95": "delay_p95",
}


@pytest.mark.parametrize("warmup", [0.0, 40.0])
@pytest.mark.parametrize("seed", range(24))
def test_a_run_is_measured_as_the_pipeline_measures_it(seed, warmup):
    tables = invent(seed)
    run = Run(
        scenario="s",
        protocol="p",
        parameters={},
        seed=seed,
        version="0",
        nodes=1000,
        duration=100.0,
        warmup=warmup,
        frames={},
        drops={},
        happenings=0,
    )
    told = measure(Facts(run, tables))
    twin = metric_twins.measure(tables, warmup, 250.0, 20)
    for ours, theirs in SAME.items():
        assert getattr(told, ours) == (None if twin[theirs] is None else pytest.approx(twin[theirs])), ours
    for category in ("event", "subscription", "routing", "control"):
        assert told.messages[category] == twin[f"messages_{category}"]
    assert told.messages["total"] == twin["messages"]
