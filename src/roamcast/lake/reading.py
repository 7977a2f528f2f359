"""Reading the facts of one run from a folder of `roamcast run --facts`, or from a campaign (DIR/run=ID)."""

from __future__ import annotations

from functools import lru_cache

import msgspec
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError, RunManifest
from roamcast.lake.lake import open_lake
from roamcast.lake.rows import BatchFiles
from roamcast.lake.snapshot import Batch, TableFile
from roamcast.lake.storage import StorageUrl

_MARK = "run="


def read_facts(where: str) -> Facts:
    """Return the facts of the run at `where`, or raise `FactsError`."""
    place = StorageUrl(where)
    campaign, _, last = str(place).rpartition("/")
    if last.startswith(_MARK) and not (place / "run.json").exists():
        return read_run(campaign, last.removeprefix(_MARK))
    if place.local is None:
        raise FactsError(f"{where}: is not a run; a run of a campaign is written as DIR/run=ID")
    return Facts.read(place.local)


def read_run(campaign: str, run: str) -> Facts:
    """Return the facts of one run of a campaign, equal to those that `roamcast run --facts` writes."""
    lake = open_lake(campaign)
    batch = lake.batch_of(run)
    files = _open_batch(str(lake.facts), batch.name, tuple(batch.files.items()))
    try:
        told = files.read(run, "about", ["told"])["told"].to_pylist()
        tables = {name: files.read(run, name, schema.names) for name, schema in TABLES.items()}
        if not told:
            raise ValueError("its row of the table 'about' is missing")
        for name, rows in tables.items():
            _check_columns(f"{campaign}/{_MARK}{run}", name, rows)
        whole = {name: rows.cast(TABLES[name]) for name, rows in tables.items()}
        return Facts(msgspec.json.decode(told[0], type=RunManifest), whole)
    except (OSError, ValueError, pa.ArrowException) as error:  # msgspec's own errors are ValueErrors
        raise FactsError(f"{campaign}/{_MARK}{run}: damaged: {' '.join(str(error).split())}") from None


def _check_columns(where: str, table: str, rows: pa.Table) -> None:
    for name in rows.column_names:
        if rows[name].null_count:
            raise FactsError(
                f"{where}: was simulated by an older version, without the column {table}.{name}; "
                "run the campaign again"
            )


@lru_cache(maxsize=4)
def _open_batch(facts: str, name: str, files: tuple[tuple[str, TableFile], ...]) -> BatchFiles:
    """Return the opened files of a batch; reading runs in order decodes each row group once."""
    return BatchFiles(StorageUrl(facts), Batch(name, {}, dict(files)))
