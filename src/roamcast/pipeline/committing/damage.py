"""Damage in a batch: files that are not what was written, and runs whose rows cannot be read."""

from __future__ import annotations

import pyarrow as pa

from roamcast.lake.batch import open_file, open_table, runs_between, table_file
from roamcast.lake.log import Batch
from roamcast.lake.staging import digest
from roamcast.lake.storage import StorageUrl


def find_damaged(facts: StorageUrl, batch: Batch) -> dict[tuple[str, str], str]:
    """The files of a batch that are not what was written."""
    found = {}
    for table, told in batch.files.items():
        file = table_file(facts, table, batch.name)
        try:
            if digest(file) != told.digest:
                found[table, batch.name] = "is not what was written"
        except FileNotFoundError:
            found[table, batch.name] = "is gone"
        except OSError as error:
            found[table, batch.name] = f"cannot be read: {error}"
    return found


def find_lost(facts: StorageUrl, batch: Batch) -> dict[str, str]:
    """The runs of a batch of which rows cannot be read, and what is wrong."""
    lost: dict[str, str] = {}
    for table in batch.files:
        file = table_file(facts, table, batch.name)
        label = f"{table}/{file.name}"
        try:
            with open_file(facts, table, batch) as content:
                opened = open_table(content, table)
                if opened.metadata.num_rows != batch.files[table].rows:
                    raise ValueError("it has lost rows")
                for group, (first, last) in enumerate(runs_between(opened)):
                    try:
                        opened.read_row_group(group, use_threads=False)
                    except (OSError, ValueError, pa.ArrowException) as error:
                        hit = [run for run in batch.runs if first <= run <= last]
                        lost |= dict.fromkeys(hit, f"{label} cannot be read: {_line(error)}")
        except FileNotFoundError:
            return dict.fromkeys(batch.runs, f"{label} is gone")
        except (OSError, ValueError, pa.ArrowException, AttributeError) as error:
            return dict.fromkeys(batch.runs, f"{label} cannot be read: {_line(error)}")
    return lost


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
