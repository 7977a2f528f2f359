"""The spool: events of the mesh on disk until the broker has acknowledged them.

RAFT-CBR acknowledges an event after it was delivered. The event is then on disk, so that a node that is
killed before the broker has it publishes it after its restart.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from roamcast.live.errors import LiveError

_TABLE = (
    "CREATE TABLE IF NOT EXISTS messages (number INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL,"
    " payload BLOB NOT NULL, publication INTEGER NOT NULL, retain INTEGER NOT NULL)"
)


class SpooledMessage(NamedTuple):
    """A message for the broker."""

    number: int
    topic: str
    payload: bytes
    publication: int
    retain: bool


class Spool:
    """Messages in order; in memory only without a file."""

    def __init__(self, path: Path | None) -> None:
        try:
            self._database = sqlite3.connect(":memory:" if path is None else path, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.execute(_TABLE)
        except sqlite3.Error as error:
            raise LiveError(f"{path}: cannot keep messages for the broker: {error}") from None

    def add(self, topic: str, payload: bytes, publication: int, retain: bool) -> SpooledMessage:
        """Store a message; it is on disk when this returns."""
        added = self._database.execute(
            "INSERT INTO messages (topic, payload, publication, retain) VALUES (?, ?, ?, ?)",
            (topic, payload, publication, retain),
        )
        return SpooledMessage(added.lastrowid or 0, topic, payload, publication, retain)

    def remove(self, number: int) -> None:
        """Forget a message that the broker has."""
        self._database.execute("DELETE FROM messages WHERE number = ?", (number,))

    def __len__(self) -> int:
        [(count,)] = self._database.execute("SELECT count(*) FROM messages")
        return int(count)

    def after(self, number: int, most: int) -> Iterator[SpooledMessage]:
        """Yield up to `most` messages that were added after message `number`, in order."""
        rows = self._database.execute(
            "SELECT number, topic, payload, publication, retain FROM messages"
            " WHERE number > ? ORDER BY number LIMIT ?",
            (number, most),
        )
        for each, topic, payload, publication, retain in rows.fetchall():
            yield SpooledMessage(each, topic, payload, publication, bool(retain))

    def close(self) -> None:
        """Close the file."""
        self._database.close()
