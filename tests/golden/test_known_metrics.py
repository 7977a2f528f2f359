"""Every metric of every known run: a change here changes what people read, and must be meant.

If it is meant, write them anew with `python -m tests.golden NAME` and say in the change why they differ.
"""

import json

import pytest

from .runs import HERE, RUNS, known_metrics

KNOWN = json.loads((HERE / "metrics.json").read_text())


@pytest.mark.parametrize("name", RUNS)
def test_the_metrics_of_a_known_run_have_not_changed(name):
    now = known_metrics(name)
    assert now.keys() == KNOWN[name].keys()
    for metric, values in now.items():
        for value, known in zip(values, KNOWN[name][metric], strict=True):
            assert value == (known if known is None else pytest.approx(known, rel=1e-12)), metric


NOT_MET = {"requests", "satisfied_rate", "fresh_rate", "hit_rate", "overhead_per_request", "false_joins"} | {
    *("response_delay", "response_delay_p50", "response_delay_p95", "duplicate_deliveries"),
    *("overhead_per_answer", "overhead_weighted_per_answer"),
}
"What does not happen in known runs; `tests/metrics` has it by hand."


def test_each_metric_has_a_value_in_some_known_run_and_the_warm_up_counts():
    first = {metric for known in KNOWN.values() for metric, (all_of_it, _) in known.items() if all_of_it}
    assert KNOWN["cbr"].keys() - first == NOT_MET
    assert all(later < all_of_it for all_of_it, later in (known["expected"] for known in KNOWN.values()))
