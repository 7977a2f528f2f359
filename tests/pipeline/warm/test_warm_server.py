"""The life of a warm session: real servers, the commands that use them, and what ends them."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import roamcast

SQUARE = Path(__file__).parents[2] / "golden" / "square.toml"
PATIENCE = 120.0
pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(900)]

HOLD = """
    import os, sys
    from roamcast.errors import UserError
    from roamcast.pipeline.spark.cluster import SparkOptions, WarmUse
    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session

    began = sys.argv[1]

    def hold(batches):
        import os, time
        with open(began + ".draft", "w") as file:
            file.write(str(os.getpid()))
        os.rename(began + ".draft", began)
        time.sleep(600)
        yield from batches

    try:
        with open_session(SparkOptions(warm=WarmUse.IF_RUNNING)) as spark, format_error("holding"):
            spark.range(0, 1, 1, 1).mapInArrow(hold, "id long").toArrow()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def call(environment, *words):
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, words)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def answer(environment, *words):
    completed = call(environment, *words)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def until(holds):
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def lives(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(process):
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.fixture
def environment(tmp_path):
    """A runtime folder of its own; the session of the test is stopped at its end."""
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    given = {key: value for key, value in os.environ.items() if key != "ROAMCAST_WARM"}
    given["XDG_RUNTIME_DIR"] = str(runtime)
    yield given
    call(given, "session", "stop")


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts") / "square"
    roamcast.run(SQUARE).facts.write(folder)
    return folder


@contextmanager
def holding(environment, folder):
    """A command whose job is under way in the session; the process, and the id of Spark's worker."""
    began = folder / "began"
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(began)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: began.exists() or process.poll() is not None)
        assert began.exists(), process.communicate()[1]
        yield process, int(began.read_text())
    finally:
        process.kill()
        process.communicate()


def test_commands_share_a_session_of_this_code_that_only_the_token_opens(environment, facts, tmp_path):
    assert call(environment, "session", "status").returncode == 3
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(answer, environment, "session", "start", "--json") for _ in range(2)]
        first, second = (json.loads(each.result()) for each in both)
    assert first["pid"] == second["pid"] and first["url"] == second["url"] and first["same_code"]
    query = ("sql", facts, "select node, count(*) n, sum(time) t from deliveries group by node order by node")
    warm = answer(environment, *query, "--csv")
    assert warm == answer(environment, *query, "--csv", "--no-warm")
    assert len(warm.splitlines()) > 1
    assert json.loads(answer(environment, "session", "status", "--json"))["pid"] == first["pid"]
    server = f"sc://localhost:{first['url'].split(':')[2].split('/')[0]}"
    for url in (server, f"{server}/;token=wrong"):
        completed = call(environment, *query, "--remote", url)
        assert completed.returncode == 2 and completed.stderr.count("\n") == 1, completed.stderr
        assert "did not take us" in completed.stderr and "wrong" not in completed.stderr
    compare = ("compare", SQUARE, "--protocols", "flooding", "--seeds", "2")
    tables = {}
    for name, option in (("warm", "--warm"), ("cold", "--no-warm")):
        answer(environment, *compare, option, "--out", tmp_path / name)
        tables[name] = {
            file.name: file.read_bytes()
            for file in (tmp_path / name / "tables").glob("*.parquet")
            if file.name in ("metrics.parquet", "summary.parquet", "differences.parquet")
        }
    assert tables["warm"] == tables["cold"] and len(tables["warm"]) == 3
    changed = environment | {"AWS_REGION": "elsewhere"}
    completed = call(changed, *query, "--csv")
    assert completed.stdout == warm and "is not used" in completed.stderr
    anew = json.loads(answer(changed, "session", "start", "--json"))
    assert anew["pid"] != first["pid"]
    until(lambda: not lives(first["pid"]))
    assert answer(changed, "session", "stop") == f"stopped process {anew['pid']}\n"
    assert call(changed, "session", "status").returncode == 3
    until(lambda: not lives(anew["pid"]))


def test_ctrl_c_cancels_the_job_and_the_session_stays(environment, facts, tmp_path):
    session = json.loads(answer(environment, "session", "start", "--json"))
    with holding(environment, tmp_path) as (process, worker):
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        until(lambda: not lives(worker))
    answer(environment, "sql", facts, "select count(*) from deliveries")
    assert json.loads(answer(environment, "session", "status", "--json"))["pid"] == session["pid"]


def test_a_killed_server_gives_one_message_and_the_next_command_works(environment, facts, tmp_path):
    session = json.loads(answer(environment, "session", "start", "--json"))
    [jvm] = children(session["pid"])
    with holding(environment, tmp_path) as (process, worker):
        os.kill(jvm, signal.SIGKILL)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert errors == (
            "the Spark Connect server ended while it was holding; "
            "finished runs are kept: run the same command again\n"
        )
        until(lambda: not lives(worker))
    until(lambda: not lives(session["pid"]))
    query = ("sql", facts, "select count(*) n from deliveries", "--csv")
    warm = answer(environment, *query, "--warm")
    again = json.loads(answer(environment, "session", "status", "--json"))
    assert again["pid"] != session["pid"] and warm == answer(environment, *query, "--no-warm")
    os.kill(again["pid"], signal.SIGKILL)  # the record stays, and is stale
    until(lambda: not lives(again["pid"]))
    assert answer(environment, *query) == warm
    assert call(environment, "session", "status").returncode == 3


def test_an_idle_session_ends_but_not_while_a_command_uses_it(environment, tmp_path):
    session = json.loads(answer(environment, "session", "start", "--idle", "3 s", "--json"))
    with holding(environment, tmp_path) as (process, _):
        began = time.monotonic()
        while time.monotonic() < began + 6:
            assert lives(session["pid"])
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    until(lambda: not lives(session["pid"]))
    assert call(environment, "session", "status").returncode == 3
