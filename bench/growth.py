"""Growth: what a run costs besides its simulation, from fifty runs to thousands, and planning many.

`python -m bench.growth 50 500` takes other numbers of runs; 20000 is for a machine that is idle.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.lake import Family
from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.pipeline.conduct import Conductor
from roamcast.pipeline.spark.executors import warm_up
from roamcast.pipeline.spark.session import open_session
from roamcast.pipeline.store import Store

SIZES = (50, 500, 5_000)
PLANNED = 100_000
SHOPPING = Path(__file__).parents[1] / "scenarios" / "shopping.toml"
TINY = {
    "duration": "1 s",
    "warmup": "0 s",
    "quiet": "0 s",
    "nodes.walkers.count": 5,
    "workload.subscribe.walkers.count": 5,
}


def tiny(runs: int) -> Campaign:
    """A campaign of so many runs of a second each."""
    points = max(1, runs // 1000)
    sweep = {
        "protocols": ["flooding"],
        "set": TINY,
        "grid": {"radio.range": [f"{200 + p} m" for p in range(points)]},
    }
    asked = {
        "title": "tiny",
        "scenario": SHOPPING,
        "seeds": runs // points,
        "protocols": {"flooding": {}},
        "sweeps": {"tiny": sweep},
    }
    return Campaign.model_validate(asked)


def grow(spark: Any, runs: int, cores: int) -> dict[str, float]:
    """What a campaign of so many tiny runs takes."""
    with tempfile.TemporaryDirectory() as name:
        store = Store(name)
        conductor = Conductor(tiny(runs), store)
        began, mine = time.perf_counter(), time.process_time()
        with Family() as family, conductor.prepare():
            conductor.work(spark)
        took, driver = time.perf_counter() - began, time.process_time() - mine
        done = store.snapshot().runs()
        assert len(done) == runs
        inside = sum(told.cpu or 0.0 for told in done.values())
        again = Conductor(tiny(runs), store)
        began_again = time.process_time()
        with again.prepare():
            assert again.is_finished(again.survey())
        files = sum(len(batch.files) for batch in store.snapshot().batches.values())
        return {
            "overhead": (family.spent - inside) / runs * 1e3,
            "wall": (took - inside / cores) / runs * 1e3,
            "driver": driver / runs * 1e3,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
            "files": files,
            "again": time.process_time() - began_again,
        }


def main() -> None:
    """Print a line for each number of runs."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or list(SIZES)
    cores = len(os.sched_getaffinity(0))
    print("runs    CPU ms a run   driver's   wall ms a run   driver MB   files   nothing to do, CPU s")
    with open_session(f"local[{cores}]") as spark:
        warm_up(spark)
        for runs in sizes:
            found = grow(spark, runs, cores)
            print(
                f"{runs:6d} {found['overhead']:13.1f} {found['driver']:10.2f} {found['wall']:15.1f} "
                f"{found['memory']:11.0f} {found['files']:7.0f} {found['again']:22.2f}",
                flush=True,
            )
    began = time.process_time()
    plan = make_plan(tiny(PLANNED))
    assert len(plan.runs) == PLANNED
    print(f"planning {PLANNED:,} runs: {time.process_time() - began:.1f} CPU s (goal 10 s)")


if __name__ == "__main__":
    main()
