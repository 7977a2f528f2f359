"""A stand-in for the simulator in tests of the pipeline: quick facts, and misbehaviour on request.

What a run does is said by its scenario's name: "raise", "hang", "hog", "die"; anything else behaves.
Each call leaves a file behind in the folder named by ROAMCAST_TEST_CALLS, if it is set.
"""

import json
import os
import time
import uuid
from pathlib import Path

import pyarrow.parquet as pq
from invented_facts import invent


class InventedFacts:
    def __init__(self, tables):
        self.tables = tables

    def write(self, folder):
        for name, table in self.tables.items():
            pq.write_table(table, Path(folder) / f"{name}.parquet")


def run(run):
    calls = os.environ.get("ROAMCAST_TEST_CALLS")
    if calls:
        (Path(calls) / f"{run.id}-{uuid.uuid4().hex}").touch()
    name = json.loads(run.scenario)["name"]
    if name == "raise":
        raise RuntimeError("the radio caught fire")
    if name == "die":
        os.abort()
    if name == "hang":
        while True:
            pass
    if name == "hog":
        hoard = []
        while True:
            hoard.append(bytearray(1 << 24))
    time.sleep(float(os.environ.get("ROAMCAST_TEST_SECONDS", "0")))
    return InventedFacts(invent(int(run.id, 16) % 100_000))


def run_cpu(run):
    """Burn processor time in proportion to the run's duration, for the bench."""
    end = time.process_time() + run.duration / 1000
    while time.process_time() < end:
        sum(range(1000))
    return InventedFacts(invent(1, publications=3))
