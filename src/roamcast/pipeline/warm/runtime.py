"""The runtime folder of the warm session: its record, and locks that end with the processes that hold them.

The server holds `alive` while it runs, so a record without this lock is stale, even if its process id exists.
`used` is shared by the commands that use the session; the server takes it alone before it ends itself.
`starting` is held by the command that starts or stops the server.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import IO

import msgspec

from roamcast.pipeline.spark.errors import SessionError

_RECORD = "session.json"
_BETWEEN_TRIES = 0.05
"Interval between attempts to take a lock [s]."


class SessionRecord(msgspec.Struct, frozen=True):
    """A running server, as it describes itself in its runtime folder."""

    pid: int
    port: int
    token: str
    identity: str
    "Digest of the code and of the environment that the server's tasks use."
    version: str
    "Version of Roamcast, for messages."
    master: str
    slots: int
    "Number of tasks that run at a time."
    idle: float
    "Time without use after which the server ends [s]."
    started: float
    "Time of its start [s since 1970]."

    @property
    def url(self) -> str:
        """The Spark Connect URL; PySpark sends a token without TLS to `localhost` alone."""
        return f"sc://localhost:{self.port}/;token={self.token}"


def runtime_folder() -> Path:
    """Return the folder of this user and this Python environment, mode 0700; create it if necessary."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    user = Path(base) / "roamcast" if base else Path(tempfile.gettempdir()) / f"roamcast-{os.getuid()}"
    name = hashlib.blake2b(sys.prefix.encode(), digest_size=6).hexdigest()
    for folder in (user, user / name):
        try:
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            found = folder.lstat()
        except OSError as error:
            raise SessionError(f"{folder}: no warm session can be kept here: {error.strerror}") from None
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise SessionError(f"{folder}: expected a folder of yours with mode 0700; remove it")
    return user / name


def read_record(folder: Path) -> SessionRecord | None:
    """Return the record of the running server; None if none runs. A stale or damaged record is removed."""
    file = folder / _RECORD
    try:
        found = msgspec.json.decode(file.read_bytes(), type=SessionRecord)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        found = None
    if found is not None and is_locked(folder, "alive"):
        return found
    file.unlink(missing_ok=True)
    return None


def write_record(folder: Path, record: SessionRecord) -> None:
    """Write the record atomically, readable by this user alone."""
    draft = folder / f".{_RECORD}.{os.getpid()}"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(msgspec.json.encode(record))
    draft.replace(folder / _RECORD)


def remove_record(folder: Path) -> None:
    """Remove the record, so that no further command uses the server."""
    (folder / _RECORD).unlink(missing_ok=True)


def try_lock(folder: Path, name: str, *, shared: bool = False) -> IO[bytes] | None:
    """Return the file that holds a lock until it is closed; None if another process has the lock."""
    file = (folder / name).open("ab")
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def is_locked(folder: Path, name: str) -> bool:
    """Return whether another process holds the lock alone."""
    file = try_lock(folder, name, shared=True)
    if file is None:
        return True
    file.close()
    return False


def take_lock(folder: Path, name: str, patience: float) -> IO[bytes]:
    """Return the file that holds a lock alone; `SessionError` if another process has it for `patience` s."""
    ends = monotonic() + patience
    while (file := try_lock(folder, name)) is None:
        if monotonic() > ends:
            raise SessionError(f"another process has held {folder / name} for {patience:.0f} s; try again")
        sleep(_BETWEEN_TRIES)
    return file


@contextmanager
def hold_lock(folder: Path, name: str, patience: float) -> Iterator[None]:
    """Hold a lock alone for the block."""
    with take_lock(folder, name, patience):
        yield
