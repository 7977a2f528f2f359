"""Facts go to disk while a run goes on, and come out the same whenever that is."""

import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.facts import writer
from roamcast.facts.folder import FactsFolder
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import FactsError, read_table
from roamcast.facts.writer import FactsWriter, TableWriter, encode_dictionary
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.scenario.read import load
from roamcast.sim import world
from roamcast.sim.run import simulate
from tests.golden.runs import HERE, RUNS

from .conftest import RUN


def rows_of(strings, times):
    """States output at `times`, the dictionary in the order in which strings came up."""
    column = pa.array(strings, pa.string()).dictionary_encode().cast(TABLES["states"].field("name").type)
    numbers = [pa.array(times, pa.float64()), pa.array([0] * len(strings), pa.int32())]
    value = pa.array(times, pa.float64())
    return pa.Table.from_arrays([*numbers, column, value], schema=TABLES["states"])


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.sampled_from(["zeal", "hops", "member", "idle"]), max_size=40),
    st.lists(st.integers(0, 40), max_size=6),
    st.integers(1, 12),
)
def test_the_bytes_depend_on_the_rows_and_not_on_the_pieces_they_came_in(
    tmp_path_factory, strings, cuts, group
):
    whole = rows_of(strings, np.arange(len(strings), dtype=float))
    ends = [0, *sorted(min(cut, len(strings)) for cut in cuts), len(strings)]
    written = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "ROW_GROUP", group)
        for pieces in ([whole], [rows_of(strings[a:b], np.arange(a, b)) for a, b in pairwise(ends)]):
            file = tmp_path_factory.mktemp("facts") / "states.parquet"
            table = TableWriter(file, TABLES["states"])
            for piece in pieces:
                table.append(piece)
            table.close()
            written.append(file.read_bytes())
    assert written[0] == written[1]
    assert pq.read_metadata(file).num_row_groups == max(1, -(-len(strings) // group))
    assert read_table(file, TABLES["states"])["name"].cast(pa.string()).to_pylist() == strings


def test_words_of_pieces_that_coded_them_otherwise_are_coded_anew():
    pieces = [pa.array(strings).dictionary_encode() for strings in (["b", "a", "b"], ["c", "a"])]
    column = encode_dictionary(
        pa.chunked_array([piece.cast(TABLES["states"].field("name").type) for piece in pieces])
    )
    assert column.dictionary.to_pylist() == ["a", "b", "c"]
    assert column.to_pylist() == ["b", "a", "b", "c", "a"]


@pytest.mark.parametrize("name", ["grid-cbr"])
def test_a_run_written_in_many_pieces_is_the_run_kept_in_memory(name, tmp_path, monkeypatch):
    known = RUNS[name]
    scenario = load(HERE / f"{known.scenario}.toml", known.settings)
    monkeypatch.setattr(writer, "ROW_GROUP", 500)
    kept = simulate(scenario, known.protocol, 11)
    kept.write(tmp_path / "kept")
    settled = []
    monkeypatch.setattr(world, "MOST_ROWS", 150)
    held = world.Recorder.flush
    monkeypatch.setattr(world.Recorder, "flush", lambda self: (settled.append(1), held(self)))
    streamed = simulate(scenario, known.protocol, 11, folder=tmp_path / "streamed")
    assert len(settled) > 10
    assert isinstance(streamed.tables, FactsFolder)
    assert streamed.digest() == kept.digest()
    assert evaluate(metric_input(streamed)) == evaluate(metric_input(kept))
    for file in (tmp_path / "kept").iterdir():
        output = [(tmp_path / folder / file.name).read_bytes() for folder in ("kept", "streamed")]
        if file.suffix == ".json":
            output = [json.loads(text) | {"events_processed": 0} for text in output]
        assert output[0] == output[1], file.name
    assert max(pq.read_metadata(f).num_row_groups for f in (tmp_path / "kept").glob("*.parquet")) > 1
    assert not list((tmp_path / "streamed").glob(".*"))


def test_a_run_that_fails_leaves_the_facts_that_were_there(tmp_path):
    known = RUNS["flooding"]
    scenario = load(HERE / f"{known.scenario}.toml", known.settings)
    simulate(scenario, "flooding", 11, folder=tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def give_up(now):
        if now > scenario.duration / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(scenario, "flooding", 12, progress=give_up, folder=tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_disk_that_fills_up_while_a_run_is_written_is_told_in_a_line(tmp_path, monkeypatch):
    facts = FactsWriter(tmp_path)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(FactsError, match="facts cannot be written: No space left on device"):
        facts.finish(RUN)
    assert list(tmp_path.iterdir()) == []


LONG = """
import resource, sys
from roamcast.scenario.read import load
from roamcast.sim.run import simulate
from pathlib import Path

scenario = load(Path(sys.argv[1]), [f"duration={sys.argv[3]} s"])
simulate(scenario, "flooding", 1, folder=Path(sys.argv[2]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_memory_does_not_grow_with_the_length_of_a_run(tmp_path):
    crowd = tmp_path / "crowd.toml"
    crowd.write_text(CROWD)
    peaks = {}
    for seconds in (200, 1000):
        command = [sys.executable, "-c", LONG, str(crowd), str(tmp_path / "facts"), str(seconds)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peaks[seconds] = int(output) / 1024
    assert pq.read_metadata(tmp_path / "facts" / "transmissions.parquet").num_rows > 600_000
    assert peaks[1000] < peaks[200] + 60, peaks


CROWD = """\
name = "crowd"
area = { width = "600 m", height = "600 m" }
duration = "200 s"
quiet = "2 s"

[nodes.shop]
count = 1
at = [["300 m", "300 m"]]

[nodes.walkers]
count = 99
mobility = "waypoint"
speed = { min = "1 m/s", max = "5 m/s" }

[workload.zones]
side = "300 m"

[workload.publish.shop]
every = "0.1 s"

[workload.subscribe.walkers]
count = 4
"""
