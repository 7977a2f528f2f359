"""The lock of a campaign folder, which admits one writing command."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from roamcast.lake.storage import StorageUrl
from roamcast.results.errors import CampaignFolderError
from roamcast.results.results_folder import LOCK


@contextmanager
def hold(folder: StorageUrl, doing: str = "running this campaign") -> Iterator[None]:
    """Hold the lock of a local folder; `doing` is part of the error message for other commands."""
    if folder.local is None:
        yield
        return
    with (folder.local / LOCK).open("a+") as file:
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
