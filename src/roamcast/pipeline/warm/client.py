"""Commands and the warm session: find it, start it, stop it, and refuse one of other code."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import IO

import msgspec

from roamcast.pipeline.spark.cluster import SparkOptions, WarmUse, count_processors
from roamcast.pipeline.spark.errors import SessionError
from roamcast.pipeline.warm.identity import session_identity
from roamcast.pipeline.warm.runtime import (
    SessionRecord,
    hold_lock,
    is_locked,
    read_record,
    runtime_folder,
    try_lock,
)
from roamcast.pipeline.warm.server import ServerOrder

IDLE = 1800.0
"Time without use after which a session ends, if none is given [s]."

_START = 120.0
"Maximum time of a start [s]."

_STOP = 10.0
"Time that a server has to end by itself [s]."

_used: list[IO[bytes]] = []
"The lock `used`, held until this process ends, so that the server does not end between two uses."


def use_warm(options: SparkOptions, say: Callable[[str], object] = lambda _: None) -> SparkOptions:
    """Return the options that lead to the warm session, if it is to be used and can be; else `options`.

    A session with other code is never used: if a warm session is requested and no command uses the old one,
    it is restarted; otherwise `say` gets a message, and the command starts its own Spark.
    """
    if options.warm is WarmUse.NEVER or options.remote:
        return options
    folder = runtime_folder()
    record = _attach(folder)
    if record is not None and record.identity != session_identity():
        detach()
        if options.warm is WarmUse.IF_RUNNING or not _unused(folder):
            say(
                f"the warm session (process {record.pid}) has other code or another environment and is not "
                "used; start it anew with: roamcast session start"
            )
            return replace(options, warm=WarmUse.NEVER)  # tell it once
        record = None
    if record is None:
        if options.warm is WarmUse.IF_RUNNING:
            return options
        say("starting a warm Spark session ...")
        start()
        record = _attach(folder)
        if record is None:
            raise SessionError("the warm session ended at once; see: roamcast session start")
    return replace(options, remote=record.url, warm=WarmUse.ATTACHED)


def start(options: SparkOptions | None = None, idle: float = IDLE) -> SessionRecord:
    """Return the running session of this code; start it if there is none, in place of one of other code."""
    chosen = options or SparkOptions()
    if chosen.master is not None and not count_processors(chosen.master):
        raise SessionError(f"--master {chosen.master}: a warm session is on this machine; expected local[N]")
    folder = runtime_folder()
    with hold_lock(folder, "starting", _START):
        found = read_record(folder)
        if found is not None and found.identity == session_identity():
            return found
        if found is not None:
            if not _unused(folder):
                raise SessionError(
                    f"the warm session (process {found.pid}) has other code or another environment, and a "
                    "command is using it; wait for the command, or stop it with: roamcast session stop"
                )
            _end(folder, found)
        return _launch(folder, ServerOrder(secrets.token_urlsafe(32), idle, chosen.master, chosen.settings()))


def stop() -> SessionRecord | None:
    """Stop the session; return its description, or None if none ran."""
    folder = runtime_folder()
    with hold_lock(folder, "starting", _START):
        found = read_record(folder)
        if found is not None:
            _end(folder, found)
        return found


def find() -> SessionRecord | None:
    """Return the running session, of whatever code."""
    return read_record(runtime_folder())


def in_use() -> bool:
    """Return whether a command is using the session."""
    return not _unused(runtime_folder())


def _attach(folder: Path) -> SessionRecord | None:
    """Take the lock `used`, then return the record: the server locks before it removes it."""
    if not _used:
        held = try_lock(folder, "used", shared=True)
        if held is None:  # the server is ending, or is looking for users
            sleep(0.1)
            held = try_lock(folder, "used", shared=True)
        if held is None:
            return None
        _used.append(held)
    record = read_record(folder)
    if record is None:
        detach()
    return record


def detach() -> None:
    """Release the session, so that the server may end; a process does so when it ends."""
    while _used:
        _used.pop().close()


def _unused(folder: Path) -> bool:
    if (held := try_lock(folder, "used")) is None:
        return False
    held.close()
    return True


def _launch(folder: Path, order: ServerOrder) -> SessionRecord:
    log = folder / "server.log"
    log.unlink(missing_ok=True)
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as sink:
        server = subprocess.Popen(
            [sys.executable, "-m", "roamcast.pipeline.warm.server"],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=sink,
            cwd=folder,
            start_new_session=True,
        )
    assert server.stdin is not None
    with suppress(BrokenPipeError), server.stdin:
        server.stdin.write(msgspec.json.encode(order))
    ends = monotonic() + _START
    try:
        while (found := read_record(folder)) is None:
            if server.poll() is not None:
                raise SessionError(f"the warm session did not start: {_last_line(log)}")
            if monotonic() > ends:
                raise SessionError(f"the warm session did not start in {_START:.0f} s; see {log}")
            sleep(0.05)
    except BaseException:
        server.kill()
        server.wait()
        raise
    return found


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return (lines or ["it said nothing"])[-1].removeprefix("roamcast.pipeline.spark.errors.SessionError: ")[
        :300
    ]


def _end(folder: Path, record: SessionRecord) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(record.pid, number)
        ends = monotonic() + _STOP
        while is_locked(folder, "alive") and monotonic() < ends:
            sleep(0.05)
        if not is_locked(folder, "alive"):
            break
    read_record(folder)  # removes what a killed server left
