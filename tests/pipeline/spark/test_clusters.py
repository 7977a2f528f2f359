"""The same tables from every kind of Spark: embedded, local cluster, standalone clusters, Spark Connect."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import campaign_driver
import pytest
from standalone import HOME, Standalone

import roamcast
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.campaign_runner import CampaignRunner

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(1800),
]
HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def whole(spark, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    conductor = CampaignRunner(campaign_driver.CAMPAIGN, CampaignFolder(out), runner=campaign_driver.RUNNER)
    with conductor.prepare():
        conductor.work(spark)
    return out


@pytest.fixture
def standalone(tmp_path):
    """A master on loopback, still without workers."""
    cluster = Standalone(tmp_path)
    yield cluster
    cluster.end()


def drive(out, where, **environment):
    command = [sys.executable, str(HERE / "campaign_driver.py"), str(out), where]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
        start_new_session=True,
    )


def conduct(out, where):
    errors, _ = drive(out, where).communicate(timeout=1200)
    assert errors.endswith("finished\n"), errors[-3000:]


def assert_same(out, whole):
    assert campaign_driver.facts(out) == campaign_driver.facts(whole)
    assert campaign_driver.tables(out) == campaign_driver.tables(whole)


@pytest.mark.parametrize("master", ["local[1]", "local[2]", "local-cluster[2,1,1024]"])
def test_every_local_layout_gives_the_same_tables(tmp_path, whole, master):
    conduct(tmp_path, master)
    assert_same(tmp_path, whole)


def test_a_real_cluster_gives_the_same_tables(tmp_path, whole, standalone):
    for name in ("one", "two"):
        standalone.add(name)
    out = tmp_path / "out"
    conduct(out, standalone.url)
    assert_same(out, whole)


OTHER_CODE = """
    import sys
    from importlib.machinery import PathFinder

    class Other(PathFinder):
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            return super().find_spec(name, [{folder!r}]) if name == "roamcast" else None

    sys.meta_path.insert(0, Other)
"""


def other_code(folder):
    """The environment of a worker with another Roamcast than ours."""
    package = Path(roamcast.__file__).parent
    shutil.copytree(package, folder / "roamcast", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(importlib.util.find_spec("roamcast._kernel").origin, folder / "roamcast")
    with (folder / "roamcast" / "units.py").open("a") as units:
        units.write("# not as it was\n")
    (folder / "sitecustomize.py").write_text(textwrap.dedent(OTHER_CODE).format(folder=str(folder)))
    (folder / "calls").mkdir()
    return {
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ["PYTHONPATH"]]),
        "ROAMCAST_TEST_CALLS": str(folder / "calls"),
    }


def test_an_executor_with_other_code_that_joins_later_does_no_run(tmp_path, whole, standalone):
    standalone.add("one", ROAMCAST_TEST_SECONDS="1")
    out = tmp_path / "out"
    driver = drive(out, standalone.url)
    while not list(Path(out).glob("staged/run=*/manifest.json")):
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.1)
    (tmp_path / "other").mkdir()
    environment = other_code(tmp_path / "other")
    standalone.add("two", **environment)
    errors, _ = driver.communicate(timeout=1200)
    assert not list((tmp_path / "other" / "calls").iterdir())
    if errors.endswith("finished\n"):
        assert_same(out, whole)
    else:
        last = errors.strip().splitlines()[-1]
        assert re.search(
            r"an executor on \S+ runs Roamcast .*; install the same wheel on every worker$", last
        )


@pytest.fixture
def namespaces(tmp_path):
    """A master here and two network namespaces, each with an address of its own."""
    made = []

    def ip(*words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no network namespaces here: ip {' '.join(words)}: {done.stderr.strip()}")

    net, bridge = "10.213.77", f"rcb{os.getpid() % 10000}"
    try:
        ip("link", "add", bridge, "type", "bridge")
        made.append(["link", "del", bridge])
        ip("addr", "add", f"{net}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for number in (2, 3):
            space, outer, inner = (
                f"rcn{os.getpid()}-{number}",
                f"rco{number}{os.getpid() % 10000}",
                f"rci{number}",
            )
            ip("netns", "add", space)
            made.append(["netns", "del", space])
            ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space)
            ip("link", "set", outer, "master", bridge, "up")
            ip("-n", space, "addr", "add", f"{net}.{number}/24", "dev", inner)
            ip("-n", space, "link", "set", inner, "up")
            ip("-n", space, "link", "set", "lo", "up")
        cluster = Standalone(tmp_path, f"{net}.1")
        try:
            yield cluster, {f"{net}.{number}": f"rcn{os.getpid()}-{number}" for number in (2, 3)}
        finally:
            cluster.end()
    finally:
        for words in reversed(made):
            subprocess.run(["ip", *words], check=False)


def test_workers_at_other_addresses_take_part_and_one_may_die(tmp_path, whole, namespaces):
    cluster, spaces = namespaces
    for address, space in spaces.items():
        cluster.add(address, address, space, ROAMCAST_TEST_SECONDS="0.5")
    out = tmp_path / "out"
    driver = drive(out, cluster.url)
    while len(list(Path(out).glob("staged/run=*/manifest.json"))) < 4:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.1)
    cluster.kill(next(iter(spaces)))
    errors, _ = driver.communicate(timeout=1200)
    assert errors.endswith("finished\n"), errors[-3000:]
    assert_same(out, whole)


def test_executors_that_cannot_call_back_are_told_of_within_half_a_minute(namespaces):
    cluster, spaces = namespaces
    address, space = next(iter(spaces.items()))
    cluster.add(address, address, space)
    words = ["cluster", "check", "--master", cluster.url]
    words += ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"]
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    checking = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = checking.stderr.readline()
        assert said.startswith(f"no executor of {cluster.url} has come for 20 s; see that its workers have")
        assert "can call this driver back at 127.0.0.1 (else --conf spark.driver.host=ADDRESS)" in said
    finally:
        checking.terminate()
        checking.wait(60)


def test_a_cluster_is_checked_for_what_is_missing_where(tmp_path, standalone):
    standalone.add("one")
    (tmp_path / "other").mkdir()
    standalone.add("two", **other_code(tmp_path / "other"))
    words = ["cluster", "check", "--master", standalone.url, "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    listed = [line for line in done.stdout.splitlines() if "Python" in line]
    assert len(listed) == 2 and all("kernel present" in line for line in listed)
    (missing,) = [line for line in done.stdout.splitlines() if line.startswith("missing")]
    assert re.search(r"runs Roamcast \S+, this is \S+; install the same wheel$", missing)


@pytest.fixture
def connect_server(tmp_path):
    """A Spark Connect server from the pip package; its URL."""
    pytest.importorskip("grpc", reason="pip install 'pyspark[connect]'")
    log = tmp_path / "connect.log"
    command = [str(HOME / "bin" / "spark-submit"), "--class"]
    command += ["org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"]
    for setting in (
        "connect.grpc.binding.port=0",
        "connect.grpc.binding.address=127.0.0.1",
        "ui.enabled=false",
    ):
        command += ["--conf", f"spark.{setting}"]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as sink:
        server = subprocess.Popen(
            command, env=environment, stdout=sink, stderr=sink, cwd=tmp_path, start_new_session=True
        )
    try:
        while not (found := re.search(r"started at: .*?(\d+)\b\D*$", log.read_text(), re.M)):
            assert server.poll() is None, log.read_text()[-2000:]
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{found[1]}"
    finally:
        os.killpg(server.pid, 9)
        server.wait(60)


def test_a_connect_server_gives_the_same_tables(tmp_path, whole, connect_server):
    out = tmp_path / "out"
    conduct(out, connect_server)
    assert_same(out, whole)
