"""Whole runs of many nodes: CPU time by phase and peak memory, static and moving, each in its own process.

`python -m bench.scale [--write] [NODES ...] [static|moving]`; 200, 10,000 and 100,000 nodes, static and
moving, by default. `--write` replaces the rows that were measured in docs/kernel.md. 1000000 takes some ten
minutes and up to 8 GiB for each row. Nodes stand or walk at 140 to the square kilometre and all subscribe;
floods of three hops begin at random nodes and times, one for every 15 nodes in 20 s: the load on the air is
the same for all sizes. A run is what `roamcast run --json --count-expectations` does: it reads the scenario,
sets up the nodes, simulates, writes facts and computes all metrics. Imports are left out: a tiny run comes
first.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from math import sqrt
from pathlib import Path
from random import Random

from bench.memory import peak_memory

SIZES = (200, 10_000, 100_000)
SECONDS, NODES_PER_FLOOD = 20.0, 15
LEAST_FLOODS = 2_000
"Of a run; small networks are simulated for longer."

MOVEMENT = {
    "static": "",
    "moving": 'mobility = "waypoint"\nspeed = { min = "0.5 m/s", max = "1.5 m/s" }\npause = "10 s"',
}
SCENARIO = """
name = "scale"
area = {{ width = "{side:.3f} m", height = "{side:.3f} m" }}
duration = "{duration:g} s"

[nodes.crowd]
count = {nodes}
{movement}

[workload]
schedule = "schedule.csv"

[workload.subscribe.crowd]
interest = ["/news"]

[protocol.flooding]
hop_limit = 3
"""


def write_scenario(folder: Path, nodes: int, movement: str, least: int) -> Path:
    """Write the scenario and its schedule of floods, `least` of them or more; return the scenario's file."""
    random = Random(nodes)
    floods = max(nodes // NODES_PER_FLOOD, least)
    lasting = SECONDS * floods * NODES_PER_FLOOD / nodes
    times = sorted(1 + lasting * random.random() for _ in range(floods))
    rows = "".join(f"{time!r},{random.randrange(nodes)},256,news\n" for time in times)
    (folder / "schedule.csv").write_text(f"time,publisher,size,type\n{rows}")
    file = folder / "scale.toml"
    side = sqrt(nodes / 140e-6)
    text = SCENARIO.format(side=side, duration=2 + lasting, nodes=nodes, movement=MOVEMENT[movement])
    file.write_text(text)
    return file


def measure(nodes: int, movement: str, least: int = LEAST_FLOODS) -> dict[str, float]:
    """Run it in this process; return CPU seconds by phase, transmissions and peak memory [bytes]."""
    from roamcast.metrics.declarations import evaluate
    from roamcast.metrics.run_metrics import metric_input
    from roamcast.scenario.read import load
    from roamcast.sim.run import simulate

    reached: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        file = write_scenario(Path(name), nodes, movement, least)
        began, wall = time.process_time(), time.perf_counter()
        facts = simulate(
            load(file),
            "flooding",
            1,
            progress=lambda _: reached.append(time.process_time()),
            folder=Path(name, "facts"),
            count_expectations=True,
        )
        written = time.process_time()
        metrics = evaluate(metric_input(facts))
        done = time.process_time()
        took = time.perf_counter() - wall
        size = sum(file.stat().st_size for file in Path(name, "facts").iterdir())
    return {
        # Nothing is sent in the first of some hundred steps.
        "set-up": reached[0] - began,
        "simulation": reached[-1] - reached[0],
        "facts": written - reached[-1],
        "metrics": done - written,
        "wall": took,
        "sent": float(metrics["messages"] or 0),
        "delivered": float(metrics["delivered"] or 0),
        "memory": peak_memory(),
        "disk": size,
    }


PHASES = ("set-up", "simulation", "facts", "metrics")
PAGE = Path("docs/kernel.md")


def row(nodes: int, movement: str, found: dict[str, float]) -> str:
    """Return the row of docs/kernel.md for a run; `found` is what `measure` returned."""
    spent = sum(found[phase] for phase in PHASES)
    cells = (
        f"{nodes:,}",
        movement,
        f"{found['sent']:,.0f}",
        *(f"{found[phase]:.1f}" for phase in PHASES),
        f"{1e6 * spent / found['sent']:.1f}",
        f"{100 * (found['set-up'] + found['metrics']) / spent:.0f} %",
        f"{found['memory'] / 2**20:,.0f}",
    )
    return f"| {' | '.join(cells)} |"


def replace_rows(page: str, rows: list[str]) -> str:
    """Return the page with its rows of the same nodes and movement replaced."""
    lines = page.split("\n")
    for new in rows:
        head = "|".join(new.split("|")[:3]) + "|"
        places = [number for number, line in enumerate(lines) if line.startswith(head)]
        if len(places) != 1:
            raise ValueError(f"{len(places)} rows of {head!r} on the page; expected 1")
        lines[places[0]] = new
    return "\n".join(lines)


def main(sizes: list[int], movements: list[str], *, write: bool) -> None:
    """Print a row for each size and movement, then whether the goal is met; `write` renews docs/kernel.md."""
    print("CPU seconds by phase; microseconds of CPU a transmission, whole run; peak memory")
    titles = ("nodes", "movement", "transmissions", *PHASES, "µs each", "set-up and metrics", "peak MiB")
    print(f"| {' | '.join(titles)} |", flush=True)
    each: dict[tuple[int, str], float] = {}
    rows = []
    for nodes in sizes:
        for movement in movements:
            command = [sys.executable, "-m", "bench.scale", "alone", str(nodes), movement]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            each[nodes, movement] = sum(found[phase] for phase in PHASES) / found["sent"]
            rows.append(row(nodes, movement, found))
            print(rows[-1], f"{found['wall']:.0f} s by the clock", flush=True)
    for movement in movements:
        if (200, movement) in each and (100_000, movement) in each:
            ratio = each[100_000, movement] / each[200, movement]
            print(f"{movement}: 100,000 nodes against 200: {ratio:.2f} x a transmission (goal 3)")
    if write:
        PAGE.write_text(replace_rows(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        measure(50, sys.argv[3], least=3)
        print(json.dumps(measure(int(sys.argv[2]), sys.argv[3])))
    else:
        chosen = [name for name in MOVEMENT if name in sys.argv]
        numbers = [int(argument) for argument in sys.argv[1:] if argument.isdecimal()]
        main(numbers or list(SIZES), chosen or list(MOVEMENT), write="--write" in sys.argv)
