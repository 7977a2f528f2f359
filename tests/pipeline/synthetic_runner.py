"""A stand-in for the simulator in tests of the pipeline: quick facts, and misbehaviour on request.

What a run does is said by its scenario's name: "raise", "hang", "hog", "die"; anything else behaves.
Each call leaves a file behind in the folder named by ROAMCAST_TEST_CALLS, if it is set. After
ROAMCAST_TEST_HOLD calls, runs wait until they are killed, so that a test decides when a campaign ends.
"""

import json
import os
import signal
import time
import uuid
from pathlib import Path

import pyarrow.parquet as pq
from invented_facts import invent


def run(run, folder):
    calls = os.environ.get("ROAMCAST_TEST_CALLS")
    if calls:
        (Path(calls) / f"{run.id}-{uuid.uuid4().hex}").touch()
        if len(list(Path(calls).iterdir())) > int(os.environ.get("ROAMCAST_TEST_HOLD", "1000000")):
            signal.pause()
    name = json.loads(run.scenario)["name"]
    if name == "raise":
        raise RuntimeError("the radio caught fire")
    if name == "die":
        os.abort()
    if name == "hang":
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))  # as deaf as a loop in C++
        while True:
            time.sleep(60)
    if name == "hog":
        hoard = []
        while True:
            hoard.append(bytearray(1 << 24))
    time.sleep(float(os.environ.get("ROAMCAST_TEST_SECONDS", "0")))
    for table, rows in invent(int(run.id, 16) % 100_000).items():
        pq.write_table(rows, folder / f"{table}.parquet")
