"""Detection of damage in a batch: changed files, and runs with unreadable rows."""

from __future__ import annotations

import pyarrow as pa

from roamcast.lake.batch import open_file, open_table, table_file
from roamcast.lake.run_index import RunIndex
from roamcast.lake.snapshot import Batch
from roamcast.lake.staging import digest
from roamcast.lake.storage import StorageUrl


def find_damaged(facts: StorageUrl, batch: Batch) -> dict[tuple[str, str], str]:
    """Return the problems of a batch's files that differ from their digests, by table and batch."""
    found = {}
    for table, recorded in batch.files.items():
        file = table_file(facts, table, batch.name)
        try:
            if digest(file) != recorded.digest:
                found[table, batch.name] = "does not match its digest"
        except FileNotFoundError:
            found[table, batch.name] = "is gone"
        except OSError as error:
            found[table, batch.name] = f"cannot be read: {error}"
    return found


def find_lost(facts: StorageUrl, batch: Batch) -> dict[str, str]:
    """Return the problems of a batch's runs with unreadable rows, by run."""
    lost: dict[str, str] = {}
    for table in batch.files:
        file = table_file(facts, table, batch.name)
        label = f"{table}/{file.name}"
        try:
            with open_file(facts, table, batch) as content:
                opened = open_table(content, table)
                if opened.metadata.num_rows != batch.files[table].rows:
                    raise ValueError("it has lost rows")
                for group, pieces in enumerate(RunIndex(opened).groups):
                    try:
                        opened.read_row_group(group, use_threads=False)
                    except (OSError, ValueError, pa.ArrowException) as error:
                        hit = (piece.run for piece in pieces)
                        lost |= dict.fromkeys(hit, f"{label} cannot be read: {_line(error)}")
        except FileNotFoundError:
            return dict.fromkeys(batch.runs, f"{label} is gone")
        except (OSError, ValueError, pa.ArrowException, AttributeError) as error:
            return dict.fromkeys(batch.runs, f"{label} cannot be read: {_line(error)}")
    return lost


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
