"""A live network is watched by Structured Streaming; its metrics are those of its facts."""

import pyarrow.parquet as pq
import pytest

from roamcast.facts.live.network import read_live
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.watching.live import LiveWatcher
from tests.live.recording.test_stream import play


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_metrics_of_a_watched_network_are_those_of_its_facts(spark, tmp_path):
    folder = tmp_path / "net"
    play(folder, 3)
    seen = []
    watcher = LiveWatcher(folder, lambda each: seen.append(each.metrics["publications"]))
    watcher.watch(spark, once=True)
    assert seen and seen[-1] == 3 and watcher.segments > 5
    expected = {
        name: value for name, value in evaluate(metric_input(read_live(folder))).items() if value is not None
    }
    rows = pq.read_table(folder / "watch" / "metrics.parquet").to_pylist()
    assert {row["metric"]: row["value"] for row in rows} == pytest.approx(expected)
    assert {row["network"] for row in rows} == {"net"}

    play(folder, 2)  # further nodes; the checkpoint knows what was read
    again = LiveWatcher(folder)
    again.watch(spark, once=True)
    assert again.metrics["publications"] == 5 and 0 < again.segments < watcher.segments * 2
