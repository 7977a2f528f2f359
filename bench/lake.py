"""The lake at size: metrics of many runs on Spark, beside DuckDB and Polars on the same files.

`python -m bench.lake 200` takes a lake of 200 million transmissions: facts of a few simulated runs, each
committed many times under other run ids. Costs are processor times, which are comparable on a busy machine.
"""

from __future__ import annotations

import hashlib
import importlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from roamcast.facts.tables import Facts
from roamcast.lake.batch import new_name, table_file
from roamcast.lake.columns import TABLES
from roamcast.lake.snapshot import Batch, Commit, CommittedRun
from roamcast.lake.staging import digest
from roamcast.metrics.constants import MetricConstants
from roamcast.metrics.declarations import METRICS
from roamcast.metrics.metric_input import RunSettings
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.measuring.measure import measure
from roamcast.pipeline.spark.session import open_session

MILLIONS = 20
BATCH_ROWS = 8_000_000
"Transmissions of a batch."

SEEDS = (1, 2, 3)
WARMUP, NODES, RANGE, HEADER = 200.0, 51, 250.0, 20


def build(folder: Path, millions: float) -> tuple[CampaignFolder, list[str]]:
    """Return a lake of `millions` million transmissions, and the ids of its runs."""
    from roamcast.scenario.read import load
    from roamcast.scenario.shipped import locate
    from roamcast.sim.run import simulate

    store = CampaignFolder(folder)
    store.create()
    world = load(locate("shopping"), ["duration=600 s"])
    facts = [simulate(world, "flooding", seed) for seed in SEEDS]
    rows = [len(each["transmissions"]) for each in facts]
    ids: list[str] = []
    left = millions * 1e6
    while left > 0:
        batch: list[tuple[str, int]] = []
        size = 0
        while size < min(BATCH_ROWS, left):
            which = len(ids) % len(facts)
            ids.append(hashlib.blake2b(str(len(ids)).encode(), digest_size=10).hexdigest())
            batch.append((ids[-1], which))
            size += rows[which]
        left -= size
        _add(store, facts, sorted(batch))
    return store, ids


def _add(store: CampaignFolder, facts: list[Facts], runs: list[tuple[str, int]]) -> None:
    """Commit a batch in which each run has the facts of one of those simulated."""
    from roamcast.lake.batch import write_pieces

    name, files = new_name(), {}
    for table in TABLES:
        if table == "about":
            continue
        pieces = ((run, facts[which][table]) for run, which in runs)
        written = write_pieces(store.facts, table, name, (piece for piece in pieces if len(piece[1])))
        if written is not None:
            files[table] = written
            assert digest(table_file(store.facts, table, name)) == written.digest
    done = {
        run: CommittedRun(rows=sum(map(len, facts[which].tables.values())), size=0)
        for run, which in sorted(runs)
    }
    assert store.log.append(store.snapshot(), Commit(add=[Batch(name, done, files)])) is not None


class Family:
    """Processor time [s] and peak memory [GB] of this process and its descendants."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Family:
        self.began, self.since = self.cpu(), time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.spent, self.took = self.cpu() - self.began, time.perf_counter() - self.since

    def cpu(self) -> float:
        """Return the processor time of running and ended processes [s]."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        tick = os.sysconf("SC_CLK_TCK")
        return (
            ended.ru_utime
            + ended.ru_stime
            + sum(
                (int(s[11]) + int(s[12]) + (0 if p == os.getpid() else int(s[13]) + int(s[14]))) / tick
                for p, s in self._stats()
            )
        )

    def _watch(self) -> None:
        while not self._ended.wait(0.25):
            held = 0
            for pid, _ in self._stats():
                try:
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                except OSError:
                    continue
                held += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
            self.peak = max(self.peak, held / 1e6)

    def _stats(self) -> list[tuple[int, list[str]]]:
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                found[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
        mine, todo = [], [os.getpid()]
        while todo:
            pid = todo.pop()
            if pid in found:
                mine.append((pid, found[pid]))
            todo += [child for child, fields in found.items() if int(fields[1]) == pid]
        return mine


def by_duckdb(store: CampaignFolder) -> dict[str, dict[str, Any]]:
    """Return the metrics that are short in SQL, by run."""
    duckdb = _need("duckdb")
    files = {name: [str(f) for f in (store.facts / name).local.glob("*.parquet")] for name in TABLES}
    duckdb.sql(f"set threads = {len(os.sched_getaffinity(0))}")
    sent = f"""
        select run, count(*) messages, count(*) filter (category = 'event') messages_event,
            count(*) filter (failed) messages_failed, sum(attempts) frames,
            sum(size::bigint * attempts) bytes, sum(floor(airtime * 1e9 + 0.5)::bigint) / 1e9 airtime
        from read_parquet({files["transmissions"]}) where time >= {WARMUP} group by run"""
    lost = f"""
        select run, count(*) drops from read_parquet({files["drops"]}) where time >= {WARMUP} group by run"""
    pairs = f"""
        with p as (select run, publication, time from read_parquet({files["publications"]})
                   where time >= {WARMUP}),
             e as (select distinct run, publication, node from read_parquet({files["expectations"]})
                   semi join p using (run, publication)),
             d as (select run, publication, node, min(time) as at from read_parquet({files["deliveries"]})
                   semi join p using (run, publication) group by all),
             h as (select e.run, d.at - p.time as late from e join d using (run, publication, node)
                   join p using (run, publication)),
             c as (select run, count(*) expected from e group by run)
        select run, expected, count(late) delivered, count(late) / expected delivery_rate,
            avg(late) delay_mean, quantile_cont(late, 0.5) delay_p50, quantile_cont(late, 0.95) delay_p95,
            max(late) delay_max from c left join h using (run) group by run, expected"""
    found: dict[str, dict[str, Any]] = {}
    for query in (sent, lost, pairs):
        answer = duckdb.sql(query)
        for row in answer.fetchall():
            found.setdefault(row[0], {}).update(zip(answer.columns[1:], row[1:], strict=True))
    return found


def by_polars(store: CampaignFolder) -> dict[str, dict[str, Any]]:
    """Return the metrics of transmissions and drops, by run."""
    pl = _need("polars")
    where = {name: f"{store.facts / name}/*.parquet" for name in ("transmissions", "drops")}
    sent = (
        pl.scan_parquet(where["transmissions"])
        .filter(pl.col("time") >= WARMUP)
        .group_by("run")
        .agg(
            pl.len().alias("messages"),
            (pl.col("category").cast(pl.String) == "event").sum().alias("messages_event"),
            pl.col("failed").sum().alias("messages_failed"),
            pl.col("attempts").cast(pl.Int64).sum().alias("frames"),
            (pl.col("size").cast(pl.Int64) * pl.col("attempts")).sum().alias("bytes"),
            ((pl.col("airtime") * 1e9 + 0.5).floor().cast(pl.Int64).sum() / 1e9).alias("airtime"),
        )
    )
    lost = (
        pl.scan_parquet(where["drops"])
        .filter(pl.col("time") >= WARMUP)
        .group_by("run")
        .agg(pl.len().alias("drops"))
    )
    found: dict[str, dict[str, Any]] = {}
    for frame in (sent, lost):
        for row in frame.collect(engine="streaming").to_dicts():
            found.setdefault(str(row.pop("run")), {}).update(row)
    return found


def by_spark(
    store: CampaignFolder, ids: list[str], names: list[str]
) -> Callable[[], dict[str, dict[str, Any]]]:
    """Return a function that computes the metrics `names` as a campaign does."""
    settings = dict.fromkeys(ids, RunSettings(NODES, WARMUP, RANGE, HEADER))

    def work() -> dict[str, dict[str, Any]]:
        table = measure(
            SPARK, store.facts, store.snapshot(), settings, constants=MetricConstants(), names=names
        )
        return {row["run"]: row for row in table.to_pylist()}

    return work


SPARK: Any = None


def apart(
    work: Callable[[CampaignFolder], dict[str, dict[str, Any]]], store: CampaignFolder
) -> dict[str, dict[str, Any]]:
    """Return the result of `work`, done in a process of its own, whose memory ends with it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return pool.submit(work, store).result()


def _need(name: str) -> Any:
    """Import a library that only this benchmark uses; install it if necessary."""
    try:
        return importlib.import_module(name)
    except ImportError:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", name], check=True)
        return importlib.import_module(name)


def main(millions: float | None = None) -> None:
    """Print processor seconds per million transmissions, and peak memory."""
    global SPARK
    given = float(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].replace(".", "").isdigit() else MILLIONS
    millions = millions or given
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(dir=os.environ.get("ROAMCAST_BENCH_DIR")) as name:
        store, ids = build(Path(name), millions)
        files = store.snapshot().batches
        size = sum(batch.size for batch in files.values())
        rows = sum(batch.files["transmissions"].rows for batch in files.values())
        total = sum(file.rows for batch in files.values() for file in batch.files.values())
        print(f"{rows / 1e6:.1f} M transmissions of {total / 1e6:.1f} M rows, {len(ids)} runs")
        print(f"{len(files)} batches, {size / 1e9:.2f} GB")
        _need("duckdb"), _need("polars")
        with Family() as duck:
            theirs = apart(by_duckdb, store)
        with Family() as bear:
            also = apart(by_polars, store)
        common = [name for name in METRICS if name in next(iter(theirs.values()))]
        with open_session(f"local[{cores}]") as SPARK:
            by_spark(store, ids[:cores], ["messages"])()  # workers up, simulator imported
            with Family() as same:
                ours = by_spark(store, ids, common)()
            with Family() as everything:
                whole = by_spark(store, ids, list(METRICS))()
    _compare(theirs, ours, common)
    _compare(also, ours, list(next(iter(also.values()))))
    assert len(whole) == len(ids) and not any(row["error"] for row in whole.values())
    for label, took in (
        (f"DuckDB, {len(common)} metrics", duck),
        ("Polars, those of messages and drops", bear),
        (f"Spark, the same {len(common)} metrics", same),
        (f"Spark, all {len(METRICS)} metrics", everything),
    ):
        each = took.spent / rows * 1e6
        print(
            f"{label:38s} {each:7.3f} CPU s per M transmissions, {took.took:7.1f} s, peak {took.peak:5.2f} GB"
        )
    print(f"Spark / DuckDB, the same metrics       {same.spent / duck.spent:7.2f} (goal 2)")


def _compare(theirs: dict[str, Any], ours: dict[str, Any], names: list[str]) -> None:
    for run, row in theirs.items():
        for name in names:
            mine = ours[run][name]
            assert abs(mine - row[name]) <= 1e-9 * max(1.0, abs(row[name])), (run, name, mine, row[name])
    assert theirs.keys() == ours.keys()


if __name__ == "__main__":
    main()
