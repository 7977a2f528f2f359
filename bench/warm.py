"""Small commands with and without a warm session: `roamcast sql`, and `roamcast compare` of four tiny runs.

`python -m bench.warm [CAMPAIGN_FOLDER]`: queries are over the folder, or over the four tiny runs. The best
of three each, cold and warm in turns, and their ratio.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
QUERY = "select category, count(*) n, sum(airtime) airtime from transmissions group by category order by n"
COMPARE = ("compare", "shopping", "--protocols", "flooding,cbr", "--seeds", "2", "--set", "duration=215 s")
GOALS = {"sql": 2.5, "compare": 6.0}


def call(*words: str) -> float:
    """Return the seconds of a command."""
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return time.perf_counter() - began


def count_jobs(lake: str) -> tuple[int, int]:
    """Return how many Spark jobs all rows of a table take, and from how many partitions they come."""
    from roamcast.pipeline.query import answer, run_query
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.views import open_tables

    tables = open_tables(lake)
    # A partition for each file, as files of a large lake have.
    with open_session("local[2]", {"spark.sql.files.openCostInBytes": str(1 << 30)}) as spark:
        frame = run_query(spark, tables, "select run, node, publication from deliveries")
        partitions = frame.rdd.getNumPartitions()
        spark.sparkContext.setJobGroup("rows", "")
        for _ in answer(frame, tables).rows:
            pass
        return len(spark.sparkContext.statusTracker().getJobIdsForGroup("rows")), partitions


def main() -> None:
    """Print the times and their ratios."""
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        os.environ.pop("ROAMCAST_WARM", None)
        lake = given[0] if given else f"{folder}/lake"
        if not given:
            call(*COMPARE, "--no-warm", "--out", lake)
        jobs, partitions = count_jobs(lake)
        print(f"all rows of a table                  {jobs:8} Spark jobs, {partitions} partitions")
        print(f"session start                        {call('session', 'start'):8.2f} s")
        try:
            times: dict[tuple[str, str], list[float]] = {}
            for number in range(ROUNDS):
                for how in ("--no-warm", "--warm"):
                    out = str(Path(folder) / f"{how}{number}")
                    times.setdefault(("sql", how), []).append(call("sql", lake, QUERY, how))
                    times.setdefault(("compare", how), []).append(call(*COMPARE, how, "--out", out))
        finally:
            call("session", "stop")
        for verb, goal in GOALS.items():
            cold, warm = (min(times[verb, how]) for how in ("--no-warm", "--warm"))
            print(f"{verb:10} warm {warm:5.2f} s (goal {goal}), cold {cold:5.2f} s, ", end="")
            print(f"warm / cold {warm / cold:5.2f}")


if __name__ == "__main__":
    main()
