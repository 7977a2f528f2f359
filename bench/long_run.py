"""One long run: the most memory that it takes, facts written and measured, beside one of a tenth its length.

`python -m bench.long_run 20` floods 800 nodes until 20 million messages are sent, in a process of its own;
ten of them subscribe. What the network makes of a run goes to disk while it goes on, so memory hardly grows.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from bench.memory import peak_memory
from roamcast.scenario.model import Scenario
from validation.grounds import field

NODES, SUBSCRIBERS, EVERY = 800, 10, 2.0
MILLIONS = 2.0
"Of the longer run, where the command line says nothing: 20 are some ten minutes."


def world(folder: Path, millions: float) -> Scenario:
    """A crowd that floods, with about so many million transmissions."""
    random = Random(NODES)
    floods = int(millions * 1e6 / NODES)
    rows = "".join(f"{1 + EVERY * n!r},{random.randrange(NODES)},512,news\n" for n in range(floods))
    schedule = folder / "schedule.csv"
    schedule.write_text(f"time,publisher,size,type\n{rows}")
    asked = field(1 + EVERY * floods, NODES).model_dump(by_alias=True)
    wanted = {"count": SUBSCRIBERS, "interest": ["/news"]}
    asked["workload"] = {"schedule": schedule, "subscribe": {"walkers": wanted}}
    asked["protocol"] = {"flooding": {"hop_limit": 255}}
    return Scenario.model_validate(asked)


def alone(millions: float) -> dict[str, float]:
    """Run it in this process; what it came to, and the most memory after the run and after its metrics."""
    from roamcast.metrics.run_metrics import measure
    from roamcast.sim.run import simulate

    with tempfile.TemporaryDirectory() as name:
        facts = simulate(world(Path(name), millions), "flooding", 1, folder=Path(name, "facts"))
        ran = peak_memory() / 1e6
        metrics = measure(facts)
        size = sum(file.stat().st_size for file in Path(name, "facts").iterdir())
    return {
        "sent": metrics.messages["total"],
        "cpu": facts.cpu_seconds or 0.0,
        "ran": ran,
        "measured": peak_memory() / 1e6,
        "disk": size / 1e6,
    }


def main(millions: float = MILLIONS) -> None:
    """Print both runs and the ratio of their memory."""
    print("transmissions    CPU s   MB at its end   MB with metrics   MB on disk")
    found = []
    for size in (millions / 10, millions):
        command = [sys.executable, "-m", "bench.long_run", "alone", str(size)]
        record = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        found.append(record)
        print(f"{record['sent']:13,.0f} {record['cpu']:8.1f} {record['ran']:15.0f}", end="")
        print(f" {record['measured']:17.0f} {record['disk']:12.0f}", flush=True)
    ratio = found[1]["measured"] / found[0]["measured"]
    print(f"memory of ten times the length: {ratio:.2f} times (goal: 600 MB at 20 M)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        print(json.dumps(alone(float(sys.argv[2]))))
    else:
        main(*map(float, sys.argv[1:]))
