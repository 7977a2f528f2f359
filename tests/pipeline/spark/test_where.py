"""Where Spark runs: addresses, settings, and the word when nobody is there."""

import socket
import subprocess
import sys
import time

import pytest

from roamcast.cli.shared.spark_options import choose_session
from roamcast.fingerprint import OTHER_CODE, make_check, package_version
from roamcast.pipeline.spark.cluster import (
    SparkOptions,
    addresses,
    check_reachable,
    find_address,
    read_settings,
)
from roamcast.pipeline.spark.configuration import ELSEWHERE, RETRIES
from roamcast.pipeline.spark.errors import SessionError, format_error
from roamcast.pipeline.spark.session import connect


@pytest.fixture
def silent():
    """A port at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local-cluster[2,1,1024]", "spark://127.0.0.1:7077", "spark://localhost:1"],
)
def test_a_spark_on_this_machine_calls_back_on_loopback(master):
    assert find_address(master) == "127.0.0.1"


def own_addresses():
    done = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False)
    return [address for address in done.stdout.split() if "." in address]


def test_a_master_at_an_address_of_the_network_is_met_from_the_address_that_routes_to_it():
    own = own_addresses()
    if not own:
        pytest.skip("this machine has no address but loopback")
    assert find_address(f"spark://{own[0]}:7077") == own[0]


def test_masters_that_stand_by_are_all_known():
    assert addresses("spark://one:7077,two:7078,three") == [("one", 7077), ("two", 7078), ("three", 7077)]
    assert addresses("k8s://https://cluster:6443") == [("cluster", 6443)]
    assert addresses("sc://server/;token=x") == [("server", 15002)]
    assert addresses("yarn") == addresses("local[2]") == []
    with pytest.raises(SessionError, match="'one:many' is no host and port"):
        addresses("spark://one:many")


def test_a_dead_master_is_told_at_once_and_a_living_one_among_dead_ones_is_enough(silent):
    with pytest.raises(
        SessionError, match=r"no Spark master answers at .*refused.*see that it runs"
    ) as raised:
        check_reachable(f"spark://127.0.0.1:{silent}")
    assert "\n" not in str(raised.value)
    with socket.create_server(("127.0.0.1", 0)) as living:
        check_reachable(f"spark://127.0.0.1:{silent},127.0.0.1:{living.getsockname()[1]}")


def test_a_dead_master_ends_the_command_with_one_line_and_exit_code_2(tmp_path, silent):
    words = ["compare", "shopping", "--protocols", "flooding", "--seeds", "1", "--out", str(tmp_path / "out")]
    words += ["--master", f"spark://127.0.0.1:{silent}"]
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert time.monotonic() - began < 60  # Spark alone waits for a minute and more
    assert done.returncode == 2
    *_, last = done.stderr.splitlines()
    assert last.startswith(f"roamcast: no Spark master answers at spark://127.0.0.1:{silent}")
    assert "Traceback" not in done.stderr


def test_a_dead_connect_server_is_told_at_once(silent):
    with pytest.raises(SessionError, match="no Spark Connect server answers"):
        connect(f"sc://127.0.0.1:{silent}", {})


@pytest.mark.parametrize("pair", ["spark.ui.enabled", "ui.enabled=true", "=x"])
def test_a_setting_that_is_none_of_sparks_is_refused(pair):
    with pytest.raises(SessionError, match=r"give Spark's settings as spark\.some\.key=value"):
        read_settings([pair])


def test_options_that_exclude_each_other_are_refused():
    with pytest.raises(SessionError, match="give one of them"):
        choose_session("local", "sc://x", None, False, None)
    with pytest.raises(SessionError, match="sc://HOST:PORT"):
        choose_session(None, "spark://x", None, False, None)
    with pytest.raises(SessionError, match="the server decides them"):
        choose_session(None, "sc://x", None, True, None)


def test_the_command_that_resumes_says_where_and_how(tmp_path):
    log = tmp_path / "log"
    where = choose_session("spark://h:1", None, ["spark.a=1", "spark.b=x=y"], True, str(log))
    assert where == SparkOptions("spark://h:1", None, {"spark.a": "1", "spark.b": "x=y"}, True, log.as_uri())
    assert where.arguments() == [
        *("--master", "spark://h:1", "--conf", "spark.a=1", "--conf", "spark.b=x=y"),
        *("--ui", "--event-log", log.as_uri()),
    ]
    assert where.settings()["spark.eventLog.dir"] == log.as_uri() and log.is_dir()
    assert SparkOptions(conf={"spark.ui.enabled": "false"}, ui=True).settings() == {
        "spark.ui.enabled": "false"
    }


def test_a_task_knows_other_code_from_ours():
    make_check(package_version())()
    with pytest.raises(RuntimeError, match=OTHER_CODE):
        make_check("0.0+0badc0de")()


def test_a_run_is_given_up_on_a_node_before_it_is_given_up():
    """Else Spark refuses every executor as it registers, and says so in their logs alone."""
    assert int(ELSEWHERE["spark.excludeOnFailure.task.maxTaskAttemptsPerNode"]) < RETRIES


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_other_code_on_an_executor_is_told_in_one_line(spark):
    check = make_check("0.0+0badc0de")

    def work(batches):
        check()
        yield from batches

    with pytest.raises(SessionError) as raised, format_error("trying"):
        spark.range(0, 1, 1, 1).mapInArrow(work, "id long").toArrow()
    assert str(raised.value).endswith("this is 0.0+0badc0de; install the same wheel on every worker")
    assert "\n" not in str(raised.value)
