"""The pipeline over the real simulator agrees with the plain measure of one run."""

import shlex

import pytest

from roamcast.campaign.campaign import Campaign
from roamcast.cli.app import invoke
from roamcast.facts.schema import TABLES as FACTS
from roamcast.facts.tables import Facts
from roamcast.lake.reading import read_facts
from roamcast.metrics.declarations import METRICS, evaluate
from roamcast.metrics.outcome import look
from roamcast.pipeline.conduct import Conductor
from roamcast.pipeline.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_real_runs_measured_by_spark_equal_the_same_runs_measured_alone(spark, tmp_path, monkeypatch):
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
    monkeypatch.chdir(tmp_path)  # the command works wherever it is pasted
    for planned in store.read_table("plan").to_pylist():
        verb, *words = shlex.split(planned["command"])
        assert verb == "roamcast"
        assert invoke([*words, "--facts", "again", "--replace", "--json"]) == 0
        kept = read_facts(str(store.folder / f"run={planned['run']}"))
        again, before = Facts.read(tmp_path / "again").digests(), kept.digests()
        assert {name: again[name] for name in FACTS} == {name: before[name] for name in FACTS}
    for row in rows:
        alone = evaluate(look(read_facts(str(store.folder / f"run={row['run']}"))))
        assert {name: row[name] for name in METRICS} == alone
        assert row["delivered"] > 100
        assert row["energy"] > 0 and 0 < row["neighbours"] < 51
