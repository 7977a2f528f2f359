"""Run fuzz targets one after the other, and keep a book of how many inputs each has had.

`python fuzz/book.py [--seconds 20] [--fast] [TARGET...]`. The book is build/fuzz/book.jsonl, a line for each
run, with a digest of the readers' source: what was tried on other code counts for that code. If it is to be
`--fast`, the readers are not instrumented, and many more inputs are made of those that were found before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).parents[1]
FOUND = ROOT / "build/fuzz"
BOOK = FOUND / "book.jsonl"
DICTIONARIES = {
    "subscriptions": "xpath",
    "documents": "xml",
    "schemas": "json",
    "json_documents": "json",
    "wire_bytes": "xml",
    "wire_messages": "json",
    "live_packets": "json",
    "live_types": "json",
}
_STATISTIC = re.compile(r"^stat::(\w+):\s+(\d+)$", re.MULTILINE)


class Run(TypedDict):
    """One run of one target."""

    at: str
    target: str
    readers: str
    fast: bool
    seconds: int
    inputs: int
    peak_megabytes: int
    found: bool


def digest() -> str:
    """What the readers' source is."""
    whole = hashlib.blake2b(digest_size=6)
    for room in ("content", "wire", "live"):
        for path in sorted((ROOT / "src/roamcast" / room).rglob("*.py")):
            whole.update(path.read_bytes())
    return whole.hexdigest()


def run(target: str, seconds: int, readers: str, fast: bool) -> Run:
    """Try inputs for some time; what is found stays in build/fuzz, and so do inputs that reach new code."""
    (FOUND / target).mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        f"fuzz/{target}.py",
        f"build/fuzz/{target}",
        f"fuzz/seeds/{target}",
        f"-dict=fuzz/{DICTIONARIES[target]}.dict",
        f"-max_total_time={seconds}",
        "-timeout=120",  # of the wall, for what never ends: limits.py counts the processor's time
        "-rss_limit_mb=512",
        "-print_final_stats=1",
        "-artifact_prefix=build/fuzz/",
    ]
    if fast:
        command.append("-keep_seed=1")  # although nothing tells them apart
    environment = os.environ | ({"ROAMCAST_FUZZ_FAST": "1"} if fast else {})
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    statistics = {name: int(number) for name, number in _STATISTIC.findall(ended.stderr)}
    if ended.returncode:
        sys.stderr.write(ended.stderr[-6000:])
    return Run(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        target=target,
        readers=readers,
        fast=fast,
        seconds=seconds,
        inputs=statistics.get("number_of_executed_units", 0),
        peak_megabytes=statistics.get("peak_rss_mb", 0),
        found=ended.returncode != 0,
    )


def main() -> int:
    """Run what is asked for, and tell the totals."""
    parser = argparse.ArgumentParser(description="Fuzz the readers of content and of live nodes.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=(*DICTIONARIES, []))
    parser.add_argument("--seconds", type=int, default=20, help="for each target")
    parser.add_argument("--fast", action="store_true", help="without instrumenting the readers")
    asked = parser.parse_args()
    readers = digest()
    failed = False
    FOUND.mkdir(parents=True, exist_ok=True)
    for target in asked.targets or DICTIONARIES:
        done = run(target, asked.seconds, readers, asked.fast)
        with BOOK.open("a") as book:
            book.write(json.dumps(done) + "\n")
        failed = failed or done["found"]
    runs: list[Run] = [json.loads(line) for line in BOOK.read_text().splitlines()]
    for target in DICTIONARIES:
        mine = [each for each in runs if each["target"] == target]
        now = sum(each["inputs"] for each in mine if each["readers"] == readers)
        print(f"{target}: {sum(each['inputs'] for each in mine):,} inputs, {now:,} of them on this code")
    print(f"all: {sum(each['inputs'] for each in runs):,} inputs")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
