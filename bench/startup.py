"""Small questions: from `roamcast compare` of four tiny runs to its answer, with and without class archive.

`python -m bench.startup`. The better of three each, in turns: the machine may not be ours alone. Times of the
processor are of the command and all that it started.
"""

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from roamcast.pipeline.spark.archive import make_archive

ROUNDS = 3


def ask(cache: str) -> tuple[float, float, float]:
    """Seconds until the simulation is under way, until the answer, and of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["compare", "shopping", "--protocols", "flooding,cbr", "--seeds", "2", "--out", folder]
        words += ["--set", "duration=215 s"]
        command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        under_way: list[float] = []

        def watch() -> None:
            while not under_way:
                if any(Path(folder).rglob(".work-*")) or any(Path(folder).rglob("manifest.json")):
                    under_way.append(time.perf_counter() - began)
                time.sleep(0.02)

        threading.Thread(target=watch, daemon=True).start()
        subprocess.run(
            command, env=os.environ | {"XDG_CACHE_HOME": cache}, check=True, capture_output=True, timeout=600
        )
        took = time.perf_counter() - began
        under_way.append(took)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return under_way[0], took, spent


def main() -> None:
    """Print the times and their ratio."""
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        make_archive()
        without, archived = [], []
        for _ in range(ROUNDS):
            without.append(ask(empty))
            archived.append(ask(cache))
    best = {}
    for name, rows in (("without archive", without), ("with archive", archived)):
        under_way, took, spent = best[name] = [min(column) for column in zip(*rows, strict=True)]
        print(f"{name:16} simulating after {under_way:5.1f} s (goal 4), ", end="")
        print(f"answer after {took:5.1f} s (goal 10), CPU {spent:5.1f} s")
    ratio = best["with archive"][2] / best["without archive"][2]
    print(f"CPU with archive / without           {ratio:8.2f}")


if __name__ == "__main__":
    main()
