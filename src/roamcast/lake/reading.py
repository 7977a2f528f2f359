"""Reading one run: of a folder that `roamcast run --facts` wrote, or of a campaign, as DIR/run=ID."""

from __future__ import annotations

from functools import lru_cache

import msgspec
import pyarrow as pa

from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, FactsError, Run
from roamcast.lake.lake import Lake, open_lake
from roamcast.lake.place import Place
from roamcast.lake.rows import BatchFiles

_MARK = "run="


def read_facts(where: str) -> Facts:
    """The facts of the run at `where`, or `FactsError`."""
    place = Place(where)
    campaign, _, last = str(place).rpartition("/")
    if last.startswith(_MARK) and not (place / "run.json").exists():
        return read_run(campaign, last.removeprefix(_MARK))
    if place.local is None:
        raise FactsError(f"{where}: is no run; those of a campaign are DIR/run=ID")
    return Facts.read(place.local)


def read_run(campaign: str, run: str) -> Facts:
    """The facts of one run of a campaign, as `roamcast run --facts` would have kept them."""
    lake = _open(campaign)
    files = _files(campaign, lake.batch_of(run).name)
    try:
        told = files.read(run, "about", ["told"])["told"].to_pylist()
        tables = {name: files.read(run, name, schema.names).cast(schema) for name, schema in TABLES.items()}
        if not told:
            raise ValueError("nobody told what was run")
        return Facts(msgspec.json.decode(told[0], type=Run), tables)
    except (OSError, ValueError, pa.ArrowException) as error:  # msgspec's own errors are ValueErrors
        raise FactsError(f"{campaign}/{_MARK}{run}: damaged: {' '.join(str(error).split())}") from None


@lru_cache(maxsize=4)
def _open(campaign: str) -> Lake:
    return open_lake(campaign)


@lru_cache(maxsize=4)
def _files(campaign: str, batch: str) -> BatchFiles:
    """The files of a batch, kept open: whoever reads runs in their order decodes each row group once."""
    lake = _open(campaign)
    return BatchFiles(lake.facts, lake.snapshot.batches[batch])
