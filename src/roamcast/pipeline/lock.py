"""The lock of a campaign's folder: one command writes, and whose that is can be asked."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.errors import CampaignFolderError

_LOCK = ".lock"


@contextmanager
def hold(folder: StorageUrl, doing: str = "running this campaign") -> Iterator[None]:
    """Keep other commands from `doing` the same here, where the folder is on a local disk."""
    if folder.local is None:
        yield
        return
    with (folder.local / _LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            other = file.read().strip() or "another process"
            raise CampaignFolderError(f"{folder}: process {other} is {doing}") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def find_holder(folder: StorageUrl) -> int | None:
    """The process that holds the folder now, if one does and that can be known."""
    try:
        kept = ((folder.local or Path("/dev/null")) / _LOCK).stat()
        locks = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    place = f"{os.major(kept.st_dev):02x}:{os.minor(kept.st_dev):02x}:{kept.st_ino}"
    fields = (line.split() for line in locks)
    return next((int(f[4]) for f in fields if f[1] == "FLOCK" and f[5] == place), None)
