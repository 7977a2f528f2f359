"""The pipeline: Spark beside plain multiprocessing on the same runs, and measurement of many facts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.campaign.campaign import Campaign, RunLimits
from roamcast.campaign.plan import PlannedRun, make_plan
from roamcast.campaign.progress import estimate
from roamcast.facts.schema import TABLES
from roamcast.lake.staging import digest
from roamcast.lake.storage import StorageUrl
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.metric_input import RunSettings
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.measuring.measure import MeasureTask, measure, measure_task, split_tasks
from roamcast.pipeline.running.simulate import simulate
from roamcast.pipeline.running.task import SIMULATOR, RunTask, execute, find_runner
from roamcast.pipeline.spark.executors import warm_up
from roamcast.pipeline.spark.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOPPING = Path(__file__).parents[1] / "scenarios" / "shopping.toml"
RUNS, ROUNDS, ROWS = 60, 3, 20_000_000


def uneven_runs() -> list[PlannedRun]:
    """Return sixty runs, the longest about eight times as long as the shortest."""
    asked = Campaign.model_validate(
        {
            "title": "uneven",
            "scenario": SHOPPING,
            "seeds": 4,
            "protocols": {"flooding": {}, "cbr": {}, "ft-cbr": {}},
            "sweeps": {
                "long": {
                    "protocols": ["flooding", "cbr", "ft-cbr"],
                    "grid": {"duration": ["250 s", "300 s", "400 s", "600 s", "800 s"]},
                }
            },
        }
    )
    runs = list(make_plan(asked).runs)
    assert len(runs) == RUNS
    return runs


def in_a_pool(
    work: Callable[[RunTask], object], runs: list[PlannedRun], folder: Path, processes: int
) -> float:
    """Return the time that a process pool takes to do `work` for each run, the longest first [s]."""
    folder.mkdir(exist_ok=True)
    costs = estimate(runs, [])
    tasks = [RunTask(run, str(folder), 600, 4e9) for run in sorted(runs, key=lambda run: -costs[run.id])]
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        pool.map(find_runner, [SIMULATOR] * processes, 1)
        began = time.perf_counter()
        pool.map(work, tasks, 1)
        return time.perf_counter() - began


def write_only(task: RunTask) -> None:
    """Do a run without child process, limits, digests and manifest."""
    find_runner(SIMULATOR)(task.run, Path(task.staged) / task.run.id)


def on_spark(spark: SparkSession, runs: list[PlannedRun], folder: Path) -> tuple[float, float]:
    """Return the time that the simulation takes, and the total time of its runs [s]."""
    store = CampaignFolder(folder)
    store.create()
    began = time.perf_counter()
    outcomes = simulate(spark, store, runs, RunLimits())
    took = time.perf_counter() - began
    assert set(outcomes["status"].to_pylist()) == {"done"}
    return took, sum(outcomes["wall"].to_pylist())


def generate_rows(store: CampaignFolder, runs: int, rows: int) -> list[str]:
    """Commit generated facts of a dense network: some transmissions and many drops per delivery."""
    store.create()
    each = rows // runs
    shares = {"publications": 0.005, "expectations": 0.04, "deliveries": 0.035}
    shares |= {"interests": 0.001, "transmissions": 0.25, "requests": 0.001, "states": 0.01, "tables": 0.01}
    counts = {name: int(each * share) for name, share in shares.items()}
    counts["legs"] = 200
    counts["drops"] = each - sum(counts.values())
    names = []
    for number in range(runs):
        random = np.random.default_rng(number)
        names.append(f"{number:020x}")
        place = store.folder.local / "work"
        place.mkdir(exist_ok=True)
        for name, schema in TABLES.items():
            columns = [_column(field, counts, name, random) for field in schema]
            if name == "legs":  # one leg per node
                walk = (np.arange(counts[name]), np.zeros(counts[name]), np.full(counts[name], 800.0))
                columns[:3] = [pa.array(v, f.type) for v, f in zip(walk, schema, strict=False)]
            table = pa.Table.from_arrays(columns, schema=schema)
            pq.write_table(table, place / f"{name}.parquet", compression="zstd")
        files = {file.name: {"size": file.stat().st_size, "digest": digest(file)} for file in place.iterdir()}
        values = {"run": names[-1], "status": "done", "error": "", "files": files, "rows": each}
        store.staging.stage(place, values)
    Committer(None, store).commit(store.staging.survey())
    return names


def _column(field: pa.Field, counts: dict[str, int], table: str, random: np.random.Generator) -> pa.Array:
    count = counts[table]
    if field.name == "publication":
        numbers = (
            np.arange(count) if table == "publications" else random.integers(0, counts["publications"], count)
        )
        return pa.array(numbers, pa.int64())
    words = {
        "category": ["event", "subscription", "routing", "control"],
        "kind": ["Event", "Subscribe"],
        "cause": ["duplicate", "collision", "no_route"],
        "outcome": ["satisfied", "expired", "open"],
        "name": ["member"],
        "table": ["routes", "seen"],
    }
    if field.name in words:
        codes = random.integers(0, len(words[field.name]), count).astype(np.int16)
        return pa.DictionaryArray.from_arrays(codes, words[field.name])
    if field.name in ("event", "wanted"):
        texts = [
            f'{{"coupon":{{"zone":{i}}}}}' if field.name == "event" else f"/coupon[zone={i}]"
            for i in range(8)
        ]
        return pa.array([texts[i] for i in random.integers(0, 8, count)])
    if pa.types.is_floating(field.type):
        top = {"time": 800.0, "airtime": 5e-3}.get(field.name, 1000.0)
        return pa.array(np.round(random.uniform(0, top, count) / 1e-9) * 1e-9)
    if pa.types.is_boolean(field.type):
        return pa.array(random.random(count) < 0.5)
    top = {"node": 200, "to": 200, "attempts": 4, "size": 600}.get(field.name, 50)
    return pa.array(random.integers(-1 if field.name in ("to", "peer") else 0, top, count), field.type)


def measure_in_a_pool(
    store: CampaignFolder, settings: dict[str, RunSettings], processes: int
) -> tuple[float, int]:
    """Return the time that a process pool takes to measure the same runs [s], and their number."""
    tasks = split_tasks(store.snapshot(), settings, 4 * processes)
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        pool.map(find_runner, [SIMULATOR] * processes, 1)
        began = time.perf_counter()
        rows = pool.starmap(_measure_here, [(str(store.facts), task) for task in tasks], 1)
        return time.perf_counter() - began, sum(rows)


def _measure_here(facts: str, task: MeasureTask) -> int:
    return len(list(measure_task(StorageUrl(facts), task, MetricConstants(), tuple(METRICS))))


def time_first_line() -> float:
    """Return the time from `roamcast compare` to its first line, before Spark has started [s]."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["compare", str(SHOPPING), "--protocols", "flooding", "--out", folder]
        command = [sys.executable, "-c", "from roamcast.cli import main; main()", *arguments]
        began = time.perf_counter()
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert process.stderr is not None and process.stderr.readline()
        waited = time.perf_counter() - began
        process.terminate()
        process.wait(30)
    return waited


def time_interrupt() -> float:
    """Return the time from Ctrl-C during a comparison to the end of its process [s]."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["compare", str(SHOPPING), "--protocols", "flooding", "--out", folder]
        command = [sys.executable, "-c", "from roamcast.cli import main; main()", *arguments]
        process = subprocess.Popen(
            [*command, "--set", "duration=100000 s"], stderr=subprocess.DEVNULL, start_new_session=True
        )
        while not list(Path(folder, "staged").glob(".work-*")):
            time.sleep(0.05)
        began = time.perf_counter()
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
        return time.perf_counter() - began


def main() -> None:
    """Print the ratios."""
    cores = len(os.sched_getaffinity(0))
    rows = ROWS if len(sys.argv) < 2 or not sys.argv[1].isdigit() else int(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        waited, ended = time_first_line(), time_interrupt()
        runs = uneven_runs()
        began = time.perf_counter()
        with open_session(f"local[{cores}]") as spark:
            warm_up(spark)
            start = time.perf_counter() - began
            bare, kept, ours, busy = [], [], [], 0.0
            for round_ in range(ROUNDS):  # in turns, and the best of each: other processes may interfere
                bare.append(in_a_pool(write_only, runs, folder / "bare", cores))
                took, inside = on_spark(spark, runs, folder / f"spark-{round_}")
                ours.append(took)
                busy = max(busy, inside / cores / took)
                kept.append(in_a_pool(execute, runs, folder / "kept", cores))
            store = CampaignFolder(folder / "lake")
            settings = dict.fromkeys(generate_rows(store, 40, rows), RunSettings(200, 200.0, 250.0, 20))
            times, pooled = [], []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                found = measure(spark, store.facts, store.snapshot(), settings, constants=MetricConstants())
                times.append(time.perf_counter() - began)
                took, count = measure_in_a_pool(store, settings, cores)
                pooled.append(took)
                assert len(found) == count == len(settings)
    print(f"cores                                  {cores}")
    print(f"first line of roamcast compare         {waited:8.1f} s (goal 2 s)")
    print(f"from Ctrl-C to the end                 {ended:8.1f} s (goal 5 s)")
    print(f"session start-up, warm workers         {start:8.1f} s")
    print(f"{RUNS} uneven runs, a plain pool           {min(bare):8.1f} s")
    print(f"  the same, kept as a campaign keeps   {min(kept):8.1f} s")
    print(f"{RUNS} uneven runs, Spark                  {min(ours):8.1f} s")
    print(f"throughput, Spark / plain pool         {min(bare) / min(ours):8.2f}   (goal 0.95)")
    print(f"  by medians                           {median(bare) / median(ours):8.2f}")
    print(f"throughput, Spark / pool that keeps    {min(kept) / min(ours):8.2f}")
    print(f"share of Spark's slots inside runs     {busy:8.2f}")
    print(f"{rows / 1e6:.0f} M fact rows measured, first time   {times[0]:8.1f} s (goal 15 s)")
    print(f"{rows / 1e6:.0f} M fact rows measured, again        {min(times[1:]):8.1f} s")
    print(f"  the same in a plain pool             {min(pooled):8.1f} s")
    print(f"time to measure, Spark / plain pool    {min(times[1:]) / min(pooled):8.2f}   (goal 1.5)")


if __name__ == "__main__":
    main()
