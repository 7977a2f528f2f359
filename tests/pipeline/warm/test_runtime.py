"""The runtime folder of the warm session: whose it is, and what a record without a server is worth."""

import os
import subprocess
import sys
from contextlib import contextmanager

import msgspec
import pytest

from roamcast.cli.shared.spark_options import choose_session
from roamcast.pipeline.spark.cluster import SparkOptions, WarmUse
from roamcast.pipeline.spark.errors import SessionError
from roamcast.pipeline.warm import client
from roamcast.pipeline.warm.identity import session_identity
from roamcast.pipeline.warm.runtime import (
    SessionRecord,
    hold_lock,
    read_record,
    runtime_folder,
    try_lock,
    write_record,
)

HOLD = (
    "import fcntl, sys; f = open(sys.argv[1], 'ab');"
    "fcntl.flock(f, fcntl.LOCK_SH if sys.argv[2] == 'shared' else fcntl.LOCK_EX);"
    "print(flush=True); sys.stdin.read()"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return runtime_folder()


@contextmanager
def holder(folder, name, how="alone"):
    """Another process that holds a lock, as a server or a command does."""
    command = [sys.executable, "-c", HOLD, str(folder / name), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def record(**changes):
    made = SessionRecord(4_000_000, 1, "secret", session_identity(), "0.1.0", "local[2]", 2, 60.0, 0.0)
    return msgspec.structs.replace(made, **changes)


def test_the_folder_and_the_record_are_for_the_user_alone(folder):
    write_record(folder, record())
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert (folder / "session.json").stat().st_mode & 0o777 == 0o600
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("trouble", ["mode", "link", "file"])
def test_a_folder_that_others_may_have_made_is_refused(tmp_path, monkeypatch, trouble):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    ours = tmp_path / "roamcast"
    if trouble == "mode":
        ours.mkdir(mode=0o700)
        ours.chmod(0o750)
    elif trouble == "link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        ours.symlink_to(tmp_path / "theirs")
    else:
        ours.touch()
    with pytest.raises(SessionError, match="mode 0700"):
        runtime_folder()


def test_a_record_without_a_living_server_is_removed(folder):
    write_record(folder, record(pid=os.getpid()))  # a process of that id lives, and is no server
    assert read_record(folder) is None
    assert not (folder / "session.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff" * 100])
def test_a_damaged_record_is_removed(folder, content):
    (folder / "session.json").write_bytes(content)
    with holder(folder, "alive"):
        assert read_record(folder) is None
    assert not (folder / "session.json").exists()


def test_the_record_of_a_living_server_is_read(folder):
    with holder(folder, "alive"):
        write_record(folder, record())
        assert read_record(folder) == record()


def test_the_server_cannot_end_while_a_command_uses_the_session(folder):
    with holder(folder, "used", "shared"):
        assert try_lock(folder, "used") is None
        assert client.in_use()
        with try_lock(folder, "used", shared=True):
            pass
    assert not client.in_use()


def test_two_starts_wait_for_each_other(folder):
    waits = hold_lock(folder, "starting", 0.2)
    with holder(folder, "starting"), pytest.raises(SessionError, match="has held"), waits:
        pass
    with hold_lock(folder, "starting", 0.2):
        pass


def test_a_session_of_other_code_is_not_used_and_the_user_is_told(folder):
    said = []
    options = SparkOptions(warm=WarmUse.IF_RUNNING)
    with holder(folder, "alive"):
        write_record(folder, record(identity="other"))
        refused = client.use_warm(options, said.append)
        assert refused == SparkOptions(warm=WarmUse.NEVER)
        assert client.use_warm(refused, said.append) == refused, "the user is told once"
        assert len(said) == 1 and "other code" in said[0]
        assert not client.in_use()
        write_record(folder, record())
        used = client.use_warm(options, said.append)
        try:
            assert used.remote == record().url and used.warm is WarmUse.ATTACHED
            assert len(said) == 1
            assert "secret" not in str(used) and "secret" not in " ".join(used.arguments())
        finally:
            client.detach()


def test_a_session_of_other_code_that_a_command_uses_is_not_replaced(folder):
    with holder(folder, "alive"), holder(folder, "used", "shared"):
        write_record(folder, record(identity="other"))
        with pytest.raises(SessionError, match="a command is using it"):
            client.start()


def test_without_a_session_a_command_starts_its_own_spark(folder):
    options = SparkOptions(warm=WarmUse.IF_RUNNING)
    assert client.use_warm(options) == options


def test_the_environment_that_decides_what_tasks_read_is_part_of_the_identity(monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    before = session_identity()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    assert session_identity() != before
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.setenv("EDITOR", "vi")
    assert session_identity() == before


def test_a_warm_session_is_on_this_machine(folder):
    with pytest.raises(SessionError, match=r"expected local\[N\]"):
        client.start(SparkOptions("spark://host:7077"))


@pytest.mark.parametrize(
    ("setting", "option", "use"),
    [
        ("", None, WarmUse.IF_RUNNING),
        ("1", None, WarmUse.START),
        ("0", None, WarmUse.NEVER),
        ("0", True, WarmUse.START),
        ("1", False, WarmUse.NEVER),
    ],
)
def test_the_option_wins_over_the_setting(monkeypatch, setting, option, use):
    monkeypatch.setenv("ROAMCAST_WARM", setting)
    assert choose_session(None, None, None, False, None, warm=option).warm is use


def test_a_command_with_options_of_its_own_uses_its_own_spark(monkeypatch):
    monkeypatch.setenv("ROAMCAST_WARM", "1")
    assert choose_session("local[2]", None, None, False, None, warm=None).warm is WarmUse.NEVER
    with pytest.raises(SessionError, match="session start"):
        choose_session("local[2]", None, None, False, None, warm=True)
    monkeypatch.setenv("ROAMCAST_WARM", "yes")
    with pytest.raises(SessionError, match="expected 1"):
        choose_session(None, None, None, False, None, warm=None)
