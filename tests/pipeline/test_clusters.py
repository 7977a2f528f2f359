"""The same tables from every kind of Spark: embedded, local cluster, a real standalone cluster."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import campaign_driver
import pytest

from roamcast.pipeline.conduct import Conductor
from roamcast.pipeline.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark"), pytest.mark.timeout(900)]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def whole(spark, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    conductor = Conductor(campaign_driver.CAMPAIGN, Store(out), runner=campaign_driver.RUNNER)
    with conductor.prepare():
        conductor.work(spark)
    return out


@pytest.fixture
def standalone(tmp_path):
    """A master and two workers on loopback, from the pip package; gives the master's URL."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
    }
    started = []

    def start(name, *arguments):
        log = tmp_path / f"{name}.log"
        command = [
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{arguments[0]}",
            *arguments[1:],
        ]
        with log.open("wb") as sink:
            started.append(subprocess.Popen(command, env=environment, stdout=sink, stderr=sink))
        return log

    def heard(log, pattern):
        while not (found := re.search(pattern, log.read_text())):
            assert all(process.poll() is None for process in started), log.read_text()[-2000:]
            time.sleep(0.2)
        return found

    try:
        address = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = start("master", "master.Master", *address)
        url = heard(master, r"spark://127\.0\.0\.1:\d+")[0]
        for name in ("one", "two"):
            size = ("--cores", "1", "--memory", "1g")
            heard(start(name, "worker.Worker", *address, *size, url), "Successfully registered with master")
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(120)


def conduct(out, master):
    done = subprocess.run(
        [sys.executable, str(HERE / "campaign_driver.py"), str(out), master],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.endswith("finished\n"), done.stdout + done.stderr[-3000:]


@pytest.mark.parametrize("master", ["local[1]", "local[2]", "local-cluster[2,1,1024]"])
def test_every_local_layout_gives_the_same_tables(tmp_path, whole, master):
    conduct(tmp_path, master)
    assert campaign_driver.facts(tmp_path) == campaign_driver.facts(whole)
    assert campaign_driver.tables(tmp_path) == campaign_driver.tables(whole)


def test_a_real_cluster_gives_the_same_tables(tmp_path, whole, standalone):
    out = tmp_path / "out"
    conduct(out, standalone)
    assert campaign_driver.facts(out) == campaign_driver.facts(whole)
    assert campaign_driver.tables(out) == campaign_driver.tables(whole)
