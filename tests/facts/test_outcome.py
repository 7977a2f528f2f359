import json

import pytest

from roamcast.facts.recorder import Recorder
from roamcast.metrics.run_metrics import measure

from .conftest import RUN


def test_a_small_run_by_hand(facts):
    m = measure(facts)
    assert (m.publications, m.expected, m.delivered, m.false_deliveries, m.duplicate_deliveries) == (
        4,
        6,
        3,
        1,
        1,
    )
    assert m.delivery_rate == 0.5
    assert m.delay_mean == pytest.approx((0.2 + 0.4 + 1.2) / 3)
    assert m.delay_p50 == pytest.approx(0.4)
    assert (m.requests, m.satisfied_rate, m.fresh_rate) == (2, 0.5, 1.0)
    assert m.response_delay == pytest.approx(10.1)
    assert (m.table_entries, m.table_bytes) == (103.0, 824.0)
    assert m.messages == {"event": 1, "subscription": 0, "routing": 1, "control": 1, "total": 3}


def test_the_json_object_has_the_promised_keys_and_no_nan():
    found = json.loads(measure(Recorder().facts(RUN)).to_json())
    promised = (
        "scenario protocol seed nodes sim_seconds delivery_rate delay_mean delay_p50 delay_p95 publications "
        "expected delivered false_deliveries duplicate_deliveries messages frames cpu_seconds "
        "events_processed"
    )
    assert set(promised.split()) <= found.keys()
    assert found["delivery_rate"] is None
    assert found["messages"] == {"event": 0, "subscription": 0, "routing": 0, "control": 0, "total": 0}
