"""A stand-in for the simulator in tests of the pipeline: quick facts, and misbehaviour on request.

What a run does is said by its scenario's name: "raise", "hang", "hog", "die", or "only alone", which raises
after another run in its process; anything else behaves.
More misbehaviour, each a word of the name, is in `misbehave`.
Each call leaves a file behind in the folder named by ROAMCAST_TEST_CALLS, if it is set. After
ROAMCAST_TEST_HOLD calls, runs wait until they are killed, so that a test decides when a campaign ends.
"""

import json
import mmap
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
        (Path(calls) / f"{run.id}-{os.getpid()}-{uuid.uuid4().hex}").touch()
        if len(list(Path(calls).iterdir())) > int(os.environ.get("ROAMCAST_TEST_HOLD", "1000000")):
            signal.pause()
    name = json.loads(run.scenario)["name"]
    misbehave(name)
    company = calls is not None and len(list(Path(calls).glob(f"*-{os.getpid()}-*"))) > 1
    if name == "raise" or (name == "only alone" and company):
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


def misbehave(name):
    calls = Path(os.environ.get("ROAMCAST_TEST_CALLS", "."))
    if name == "killed always" or (name == "killed once" and len(list(calls.iterdir())) == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if "daemon" in name:
        forked = Path(os.environ["ROAMCAST_TEST_FORKED"])
        first = not list(forked.glob("forked-*"))
        if os.fork() == 0:
            os.setsid()
            (forked / f".{os.getpid()}").write_text(str(os.getpid()))
            (forked / f".{os.getpid()}").rename(forked / f"forked-{os.getpid()}")
            signal.pause()
        while not list(forked.glob("forked-*")):
            time.sleep(0.01)
        if name.endswith("killing its supervisor once") and first:
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
    if name.endswith(" hang"):
        while True:
            time.sleep(60)
    if name == "shared hog":
        hoard = []
        while True:
            hoard.append(mmap.mmap(-1, 1 << 24))
            hoard[-1].write(bytes(1 << 24))
    if name == "forked hog":
        for _ in range(3):
            if os.fork() == 0:
                held = bytearray(os.urandom(1)) * 120_000_000
                signal.pause()
                del held
        signal.pause()
