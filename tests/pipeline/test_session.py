"""What a session says, and does not say, when it ends."""

import signal
import subprocess
import sys
import textwrap

import pytest

HOLD = """
    import sys, time
    from roamcast.pipeline.session import open_session

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
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in told, told
