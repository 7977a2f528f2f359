"""What a session says, and does not say, when it ends."""

import signal
import subprocess
import sys
import textwrap

import pytest

from roamcast.pipeline.spark.errors import interrupted

HOLD = """
    import sys, time
    from roamcast.pipeline.spark.session import open_session

    began = sys.argv[1]

    def hold(_):
        open(began, "w").close()
        time.sleep(600)

    try:
        with open_session("local[1]") as spark:
            spark.sparkContext.parallelize([0], 1).foreach(hold)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_an_error_on_the_way_out_of_ctrl_c_is_ctrl_c():
    def leave(first):
        try:
            try:
                raise first
            finally:
                raise ValueError("the answer was not what was asked for")
        except ValueError as error:
            return error

    assert interrupted(leave(KeyboardInterrupt()))
    assert not interrupted(leave(RuntimeError()))


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_ctrl_c_while_the_jvm_works_is_raised_and_not_logged(tmp_path):
    began = tmp_path / "began"
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(began)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not began.exists() and process.poll() is None:
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors, errors
