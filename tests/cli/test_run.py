import json
import os
import subprocess
import sys

import pytest

import roamcast
from roamcast.facts.tables import Facts

SMALL = """\
name = "small"
area = { width = "400 m", height = "300 m" }
duration = "30 s"
warmup = "5 s"
quiet = "2 s"
location = true

[nodes.shop]
count = 1
at = [["200 m", "150 m"]]

[nodes.walkers]
count = 12
mobility = "waypoint"
speed = { min = "1 m/s", max = "5 m/s" }

[workload.zones]
side = "100 m"

[workload.publish.shop]
every = "0.5 s"
gaps = "exponential"

[workload.subscribe.walkers]
count = 8
"""


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


def command(*arguments, **environment):
    program = [sys.executable, "-c", "from roamcast.cli import main; main()", "run", *map(str, arguments)]
    env = {**os.environ, **environment}
    return subprocess.run(program, check=True, capture_output=True, text=True, env=env, timeout=120)


def test_json_is_one_object_on_stdout_and_agrees_with_python(small):
    record = json.loads(command(small, "--json", "--seed", "3").stdout)
    result = roamcast.run(small, seed=3)
    own = result.metrics.to_dict()
    assert record.pop("cpu_seconds") > 0
    assert record.pop("measures") == result.measures
    own.pop("cpu_seconds")
    assert record == own
    assert record["expected"] > 20
    assert record["delivery_rate"] > 0.9
    assert record["messages"]["total"] == record["messages"]["event"] > 0
    assert record["events_processed"] > 0


def test_people_get_a_table(small):
    result = command(small, "--set", "nodes.walkers.count=9").stdout
    assert "small, flooding, seed 1" in result
    assert "delivered" in result
    assert "95th percentile" in result


def test_settings_change_the_run(small):
    near = roamcast.run(small, settings={"radio.range": "40 m", "radio.carrier_sense": "90 m"})
    far = roamcast.run(small)
    assert near.metrics.delivery_rate < far.metrics.delivery_rate
    assert near.metrics.publications == far.metrics.publications


def test_two_processes_with_different_hash_seeds_write_the_same_bytes(small, tmp_path):
    for hash_seed in ("0", "4711"):
        command(small, "--protocol", "cbr", "--facts", tmp_path / hash_seed, PYTHONHASHSEED=hash_seed)
    written = sorted(path.name for path in (tmp_path / "0").iterdir())
    assert len(written) == 11
    for name in written:
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "4711" / name).read_bytes(), name


def test_facts_on_disk_are_the_facts_in_memory(small, tmp_path):
    command(small, "--facts", tmp_path / "facts")
    assert Facts.read(tmp_path / "facts").digest() == roamcast.run(small).facts.digest()


def test_every_protocol_meets_the_same_movement_publications_and_interests(small):
    flooding, cbr = (roamcast.run(small, protocol).facts for protocol in ("flooding", "cbr"))
    for table in ("publications", "expectations", "interests", "legs"):
        assert flooding[table].equals(cbr[table])


def test_a_result_reads_well_in_a_notebook(small):
    result = roamcast.run(small)
    html = result._repr_html_()
    assert "<b>small</b>, flooding, seed 1" in html
    assert f"{result.metrics.delivered} of {result.metrics.expected}" in html
    assert "% delivered" in repr(result)
