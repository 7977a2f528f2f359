"""Small lakes for tests: staged runs with facts of their own, and steps at which everything may end."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

import roamcast
from roamcast.facts.pack import PACK, count_rows, pack
from roamcast.facts.schema import TABLES
from roamcast.lake import batch as batches
from roamcast.lake import delta
from roamcast.lake.columns import CELL
from roamcast.lake.staging import digest
from roamcast.lake.storage import StorageUrl


def facts_of(run: str, rows: int = 3) -> dict[str, pa.Table]:
    """Facts that are another run's in no row: some deliveries, and one drop with a cause of its own."""
    number = int(run, 16)
    deliveries = [{"publication": number << 8 | row, "node": row, "time": float(row)} for row in range(rows)]
    drop = {"time": 1.0, "node": number, "peer": -1, "category": "event", "kind": "Any", "publication": -1}
    return {
        "deliveries": pa.Table.from_pylist(deliveries, TABLES["deliveries"]),
        "drops": pa.Table.from_pylist([drop | {"cause": f"cause_{number}"}], TABLES["drops"]),
    }


def stage(store, run: str, tables=None) -> dict:
    """Stage a run as a task does."""
    tables = facts_of(run) if tables is None else tables
    with tempfile.TemporaryDirectory(dir=store.folder.local) as name:
        work = Path(name)
        files = {}
        for table, rows in tables.items():
            file = work / f"{table}.parquet"
            pq.write_table(rows, file)
            files[file.name] = {"size": file.stat().st_size, "digest": digest(file), "rows": len(rows)}
        rows = sum(file["rows"] for file in files.values())
        manifest = {"run": run, "status": "done", "error": "", "files": files, "rows": rows, "cpu": 0.1}
        store.staging.stage(work, manifest)
    return manifest


def stage_packed(store, run: str, tables=None, about: str = "{}") -> dict:
    """Stage a short run as a task does."""
    content = pack(about, facts_of(run) if tables is None else tables)
    with tempfile.TemporaryDirectory(dir=store.folder.local) as name:
        file = Path(name) / PACK
        file.write_bytes(content)
        rows = count_rows(file)
        files = {PACK: {"size": len(content), "digest": digest(file), "rows": rows}}
        manifest = {"run": run, "status": "done", "error": "", "files": files, "rows": rows, "cpu": 0.1}
        store.staging.stage(Path(name), manifest)
    return manifest


def ready(store) -> dict:
    """The staged runs that may be committed."""
    return {run: entry for run, entry in store.staging.survey().items() if entry["status"] == "done"}


def content(folder, table: str) -> dict[str, list]:
    """The rows of a table by run, in the order in which they were written."""
    found: dict[str, list] = {}
    for row in roamcast.lake(folder).dataset(table).to_table().to_pylist():
        found.setdefault(row.pop("run"), []).append(without_cell(row))
    return found


def without_cell(row: dict) -> dict:
    """The facts of a row."""
    return {name: value for name, value in row.items() if name not in CELL.names}


def delta_content(folder, table: str) -> dict[str, list]:
    """The rows of a table by run, as delta-rs reads the table alone."""
    found: dict[str, list] = {}
    rows = pa.table(DeltaTable(str(Path(folder) / "facts" / table)).to_pyarrow_table()).to_pylist()
    for row in rows:
        found.setdefault(row.pop("run"), []).append(without_cell(row))
    return found


def expected(runs, table: str) -> dict[str, list]:
    """What `content` must be if `runs` were committed, each once."""
    return {run: facts_of(run)[table].to_pylist() for run in runs}


class Killed(BaseException):
    """The command ends here, as if by SIGKILL."""


_CHANGING = [(StorageUrl, "write"), (StorageUrl, "remove"), (delta, "commit_files"), (delta, "sync_log")]
_CHANGING += [(batches._HashedFile, "__init__"), (batches._HashedFile, "finish")]
_AS_IT_IS = {place: getattr(*place) for place in _CHANGING}


@contextmanager
def steps(before):
    """Call `before(number, what)` before each step that changes something on disk."""
    count = 0

    def counted(what, original):
        def step(*arguments, **options):
            nonlocal count
            number, count = count, count + 1
            before(number, what)
            return original(*arguments, **options)

        return step

    with _replaced({place: counted(place[1], original) for place, original in _AS_IT_IS.items()}):
        yield


def unseen():
    """A block whose steps nobody counts: another driver's, in the midst of ours."""
    return _replaced(_AS_IT_IS)


@contextmanager
def _replaced(functions):
    kept = {place: getattr(*place) for place in functions}
    try:
        for place, function in functions.items():
            setattr(*place, function)
        yield
    finally:
        for place, function in kept.items():
            setattr(*place, function)
