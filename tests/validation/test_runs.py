"""Missing runs are found on both sides, done several at a time, and kept one by one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roamcast.errors import UserError
from validation import ours
from validation.kept import Kept, NotMeasuredError
from validation.runs import do_missing

PLACES, PATHS = [(0.0, 0.0), (100.0, 0.0)], [[0, 1]]


def refuse(*_):
    raise UserError("ns-2 failed")


def test_a_look_at_both_sides_notes_both_as_missing(tmp_path):
    look = Kept(tmp_path, measures=False)
    with pytest.raises(NotMeasuredError):
        look.both(ours.flows, refuse, PLACES, PATHS, 0.1, 1)
    assert [job.call for job in look.missing] == [ours.flows, refuse]


def test_missing_runs_are_done_in_two_processes_and_not_done_again(tmp_path):
    look = Kept(tmp_path, measures=False)
    for seed in range(4):
        with pytest.raises(NotMeasuredError):
            look.run(ours.flows, PLACES, PATHS, 0.1, seed)
    do_missing(look.missing, tmp_path, processes=2)
    again = Kept(tmp_path, measures=False)
    for seed in range(4):
        assert again.run(ours.flows, PLACES, PATHS, 0.1, seed) == ours.flows(PLACES, PATHS, 0.1, seed)
    assert again.missing == []
    assert again.runs == {ours.__name__: 4}


def test_a_run_that_fails_ends_the_others_and_what_was_done_is_kept(tmp_path):
    look = Kept(tmp_path, measures=False)
    for call, seed in ((ours.flows, 1), (refuse, 1), (ours.flows, 2)):
        with pytest.raises(NotMeasuredError):
            look.run(call, PLACES, PATHS, 0.1, seed)
    with pytest.raises(UserError, match="ns-2 failed"):
        do_missing(look.missing, tmp_path, processes=1)
    assert Kept(tmp_path, measures=False).run(ours.flows, PLACES, PATHS, 0.1, 1)


MANY = """
from pathlib import Path
import sys
from validation import ours
from validation.kept import Job
from validation.runs import do_missing
places = [(0.0, 0.0), (100.0, 0.0)]
do_missing([Job(ours.flows, (places, [[0, 1]], 20.0, n), {}) for n in range(10_000)], Path(sys.argv[1]), 2)
"""


def test_an_interrupt_ends_the_command_at_once_and_keeps_what_was_done(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", MANY, str(tmp_path)]
    process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, start_new_session=True)
    try:
        while not list(tmp_path.rglob("*.json")):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, output = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0
    assert b"KeyboardInterrupt" in output
    assert 0 < len(list(tmp_path.rglob("*.json"))) < 10_000
    assert not list(tmp_path.rglob("*.draft"))
