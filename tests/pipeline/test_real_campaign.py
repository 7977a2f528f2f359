"""The pipeline over the real simulator agrees with the plain measure of one run."""

import pytest

from roamcast.facts.metrics import measure
from roamcast.facts.tables import Facts
from roamcast.pipeline.campaign import Campaign
from roamcast.pipeline.conduct import Conductor
from roamcast.pipeline.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_real_runs_measured_by_spark_equal_the_same_runs_measured_alone(spark, tmp_path):
    from test_conduct import SHOPPING

    asked = {
        "title": "real",
        "scenario": SHOPPING,
        "seeds": [3],
        "protocols": {"flooding": {}, "cbr": {}},
        "sweeps": {"one": {"protocols": ["flooding", "cbr"], "set": {"duration": "60 s", "warmup": "20 s"}}},
    }
    store = Store(tmp_path)
    conductor = Conductor(Campaign.model_validate(asked), store)
    with conductor.prepare():
        conductor.work(spark)
    rows = store.read_table("metrics").to_pylist()
    assert len(rows) == 2
    for row in rows:
        alone = measure(Facts.read(store.run_folder(row["run"])))
        for name in ("delivery_rate", "delay_mean", "delay_p50", "delay_p95", "publications", "expected"):
            assert row[name] == pytest.approx(getattr(alone, name), rel=1e-12), name
        assert row["false_deliveries"] == alone.unexpected
        assert row["duplicate_deliveries"] == alone.duplicates
        for category, count in alone.messages.items():
            assert row["messages" if category == "total" else f"messages_{category}"] == count
        assert row["energy"] > 0 and 0 < row["neighbours"] < 51
