"""Growth: overhead per run and memory of the driver for fifty to thousands of runs; planning of many runs.

`python -m bench.growth 50 500` takes other numbers of runs; 20000 needs an idle machine. Overhead is
processor time, which is comparable on a busy machine, and its ratio to a plain loop over runs of the same
campaign in this process, which writes the same facts without isolation, limits or commits.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.memory import peak_memory
from roamcast.campaign.campaign import Campaign
from roamcast.campaign.plan import make_plan
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.spark.executors import warm_up
from roamcast.pipeline.spark.session import open_session
from roamcast.scenario.model import Scenario
from roamcast.sim.run import simulate

SIZES = (50, 500, 5_000)
PLANNED = 100_000
LOOPED = 50
"Runs of the plain loop."

ROLES = ("driver", "jvm", "daemon", "workers", "supervisors")
"The roles of processes by their depth below this one: JVM, Python daemon, workers, run supervisors."
SHOPPING = Path(__file__).parents[1] / "scenarios" / "shopping.toml"
TINY = {
    "duration": "1 s",
    "warmup": "0 s",
    "quiet": "0 s",
    "nodes.walkers.count": 5,
    "workload.subscribe.walkers.count": 5,
}


def tiny(runs: int) -> Campaign:
    """Return a campaign of `runs` runs of a simulated second each."""
    points = max(1, runs // 1000)
    sweep = {
        "protocols": ["flooding"],
        "set": TINY,
        "grid": {"radio.range": [f"{200 + p} m" for p in range(points)]},
    }
    definition = {
        "title": "tiny",
        "scenario": SHOPPING,
        "seeds": runs // points,
        "protocols": {"flooding": {}},
        "sweeps": {"tiny": sweep},
    }
    return Campaign.model_validate(definition)


class Meter:
    """Processor time of this process and its descendants, by role and stage [s]; supervisors reap `runs`."""

    def __init__(self) -> None:
        self.spent: dict[str, Counter[str]] = {}

    @contextmanager
    def time(self, stage: str) -> Iterator[None]:
        """Add the processor time of the block to `stage`."""
        before = self._look()
        try:
            yield
        finally:
            after = self._look()
            self.spent.setdefault(stage, Counter()).update(
                {role: after[role] - before[role] for role in after}
            )

    def roles(self) -> Counter[str]:
        """Return the processor time of each role [s]."""
        return sum(self.spent.values(), Counter())

    def _look(self) -> Counter[str]:
        below: dict[int, list[tuple[int, list[int]]]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            below.setdefault(int(fields[1]), []).append(
                (int(stat.parent.name), list(map(int, fields[11:15])))
            )
        found: Counter[str] = Counter(driver=time.process_time())
        level = [os.getpid()]
        for role in (*ROLES[1:], "runs"):
            here = [each for parent in level for each in below.get(parent, [])]
            for _, (user, system, reaped_user, reaped_system) in here:
                found[role] += (user + system) / os.sysconf("SC_CLK_TCK")
                ended = "runs" if role == "supervisors" else role
                found[ended] += (reaped_user + reaped_system) / os.sysconf("SC_CLK_TCK")
            level = [pid for pid, _ in here]
        return found


class Metered(CampaignRunner):
    """A runner of campaigns that meters its stages; `commit` is the last commit of the simulation."""

    meter: Meter

    def _commit(self, committer: Committer) -> dict[str, str]:
        with self.meter.time("commit"):
            return super()._commit(committer)

    def simulate(self, spark: Any, survey: Any) -> Any:
        """Simulate and commit, metered."""
        with self.meter.time("simulate"):
            return super().simulate(spark, survey)

    def evaluate(self, spark: Any, survey: Any) -> None:
        """Measure, summarise and judge, metered."""
        with self.meter.time("evaluate"):
            super().evaluate(spark, survey)


def loop(runs: int) -> float:
    """Return the processor time per run of a plain loop that writes facts [ms]."""
    planned = make_plan(tiny(max(runs, LOOPED + 1))).runs[: LOOPED + 1]
    with tempfile.TemporaryDirectory() as name:
        for number, run in enumerate(planned):
            if number == 1:  # the first one imports and compiles
                began = time.process_time()
            simulate(
                Scenario.model_validate_json(run.scenario), run.router, run.seed, folder=Path(name, run.id)
            )
        return (time.process_time() - began) / LOOPED * 1e3


def grow(master: str, runs: int) -> dict[str, float]:
    """Return the cost of a campaign of so many tiny runs in a new session [ms per run, unless stated]."""
    with open_session(master) as spark:
        warm_up(spark)
        return _grow(spark, runs)


def _grow(spark: Any, runs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        store = CampaignFolder(name)
        runner = Metered(tiny(runs), store)
        meter = runner.meter = Meter()
        began = time.perf_counter()
        with runner.prepare():
            runner.work(spark)
        took = time.perf_counter() - began
        memory = peak_memory() / 1e6  # of the driver, before runs are simulated in this process
        done = store.snapshot().runs()
        assert len(done) == runs
        inside = sum(run.cpu or 0.0 for run in done.values())
        again = CampaignRunner(tiny(runs), store)
        began_again = time.process_time()
        with again.prepare():
            assert again.is_finished(again.survey())
        again_took = time.process_time() - began_again
        files = sum(len(batch.files) for batch in store.snapshot().batches.values())
    plain = loop(runs)
    stages = {stage: sum(spent.values()) for stage, spent in meter.spent.items()}
    stages["simulate"] -= stages["commit"]
    roles = meter.roles() - meter.spent["commit"]  # which is within `simulate`
    found = {"inside runs": inside, "starting, ending them": roles["runs"] + roles["supervisors"] - inside}
    found |= {"workers": roles["workers"] + roles["daemon"], "jvm": roles["jvm"], "driver": roles["driver"]}
    found |= stages | {"wall": took}
    costs = {part: spent / runs * 1e3 for part, spent in found.items()}
    total = costs["simulate"] + costs["commit"] + costs["evaluate"]
    costs |= {"loop": plain, "all": total, "overhead": total - plain, "ratio": total / plain}
    return costs | {"files": files, "memory": memory, "again": again_took}


COLUMNS = (
    ("loop", "plain loop", 1),
    ("all", "campaign", 1),
    ("ratio", "ratio", 2),
    ("overhead", "overhead", 1),
    ("inside runs", "in runs", 1),
    ("starting, ending them", "fork,end", 1),
    ("workers", "workers", 1),
    ("jvm", "jvm", 1),
    ("driver", "driver", 2),
    ("simulate", "simulate", 1),
    ("commit", "commit", 1),
    ("evaluate", "evaluate", 1),
    ("wall", "wall", 1),
    ("memory", "driver MB", 0),
    ("files", "files", 0),
    ("again", "again, s", 2),
)


def main() -> None:
    """Print a line for each number of runs."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or list(SIZES)
    cores = len(os.sched_getaffinity(0))
    print("CPU ms per run: total, by process, by stage; then wall ms per run, the driver, a second command")
    print("  runs" + "".join(f"{title:>11s}" for _, title, _ in COLUMNS))
    for runs in sizes:
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:  # memory is of one campaign
            found = alone.submit(grow, f"local[{cores}]", runs).result()
        print(f"{runs:6d}" + "".join(f"{found[key]:11.{digits}f}" for key, _, digits in COLUMNS), flush=True)
    began = time.process_time()
    plan = make_plan(tiny(PLANNED))
    assert len(plan.runs) == PLANNED
    print(f"planning {PLANNED:,} runs: {time.process_time() - began:.1f} CPU s (goal 10 s)")


if __name__ == "__main__":
    main()
