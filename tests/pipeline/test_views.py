"""The tables of a campaign are views."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_lake import ready, stage

import roamcast
from roamcast.campaign.tables import POINTS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.views import open_tables, register_views

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_runs_of_a_campaign_are_asked_together(spark, tmp_path):
    store = CampaignFolder(tmp_path / "out")
    store.create()
    delivered = {}
    for seed in (1, 2):
        facts = roamcast.run(SQUARE, seed=seed).facts
        stage(store, f"{seed:08x}", {name: facts[name] for name in ("deliveries", "legs")})
        delivered[f"{seed:08x}"] = len(facts["deliveries"])
    Committer(None, store).commit(ready(store))
    folder = tmp_path / "out"
    (folder / "campaign.json").write_text("{}")
    (folder / "tables").mkdir(exist_ok=True)
    points = [{"sweep": "s", "point": "{}", "protocol": "flooding", "seed": 1, "run": f"{1:08x}"}]
    pq.write_table(pa.Table.from_pylist(points, POINTS), folder / "tables" / "points.parquet")
    names = register_views(spark, open_tables(str(folder)))
    assert {"deliveries", "legs", "points"} <= set(names)
    assert "metrics" not in names  # not made yet
    counts = spark.sql("select run, count(*) n from deliveries group by run").collect()
    assert {row["run"]: row["n"] for row in counts} == delivered
    joined = spark.sql("select count(*) n from deliveries join points using (run)").first()
    assert joined["n"] == delivered[f"{1:08x}"] > 0
    assert spark.sql("select count(*) from requests").first()[0] == 0
