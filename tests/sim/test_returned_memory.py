"""A run of many nodes returns the memory of its nodes to the system before metrics are computed."""

import json
import subprocess
import sys

NODES = 20_000
SCENARIO = f"""
name = "crowd"
area = {{ width = "12 km", height = "12 km" }}
duration = "1 s"

[nodes.crowd]
count = {NODES}

[workload]
schedule = "schedule.csv"

[workload.subscribe.crowd]
interest = ["/news"]
"""
CHILD = """
import json, sys
from pathlib import Path
from roamcast.scenario.read import load
from roamcast.sim import run

def memory(of):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(of))

folder, run.LARGE = Path(sys.argv[1]), int(sys.argv[2])
few = load(folder / "crowd.toml", {"nodes.crowd.count": 9})  # a first run imports what runs need
run.simulate(few, "flooding", 1, folder=folder / f"{sys.argv[2]}-few")
scenario = load(folder / "crowd.toml")
before = memory("VmRSS:")
facts = run.simulate(scenario, "flooding", 1, folder=folder / sys.argv[2], count_expectations=True)
print(json.dumps([memory("VmHWM:") - before, memory("VmRSS:") - before]))
"""


def test_a_large_run_returns_the_memory_of_its_nodes(tmp_path):
    (tmp_path / "crowd.toml").write_text(SCENARIO)
    (tmp_path / "schedule.csv").write_text("time,publisher,size,type\n0.1,0,256,news\n")

    def held(large):
        """Return the share of a run's peak memory that is held after it, and the peak per node [B]."""
        command = [sys.executable, "-c", CHILD, str(tmp_path), str(large)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        peak, after = json.loads(output)
        return after / peak, peak / NODES

    share, each = held(NODES)
    assert each > 1_000, "the nodes take too little memory for this test"
    kept, _ = held(NODES + 1)
    assert share < 0.5
    assert kept > 0.8, "below the limit a run keeps its memory, so the limit decides"
