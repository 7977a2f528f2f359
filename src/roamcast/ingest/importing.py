"""Import of trace files to a folder of facts or of movement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from roamcast.files import MOST_TRACE
from roamcast.ingest import movement
from roamcast.ingest.assembly import BAD, assemble
from roamcast.ingest.description import TraceDescription, name_run
from roamcast.ingest.file_parts import (
    BadLine,
    FilePart,
    IngestError,
    find_files,
    measure_size,
    refuse_mostly_bad,
)
from roamcast.ingest.formats import TraceFormat, detect, find, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ABOUT_FILE = "ingest.json"
"File that records the sources and settings of an import; written last."

BAD_FILE = "bad.parquet"

IN_MEMORY = 64 << 20
"Maximum total size of traces that are read in this process [B]; larger ones are read on Spark."

_SHOWN_BAD = 100_000
"Maximum number of bad lines that are stored with their reasons; all are counted."


def recognise(paths: list[str], name: str | None) -> tuple[list[str], TraceFormat]:
    """Return the files that `paths` name and their common format; it is detected unless `name` is given."""
    files = find_files(paths)
    for path in files:
        measure_size(path)
    if name is not None:
        return files, find(name)
    forms = {path: detect(path) for path in files}
    first = forms[files[0]]
    for path, form in forms.items():
        if form is not first:
            raise IngestError(
                f"{path}: is {form.name}, but {files[0]} is {first.name}; give files of one format"
            )
    return files, first


def check_output(out: Path, question: Mapping[str, Any], *, replace: bool) -> None:
    """Raise `IngestError` if a folder contains other results, unless `replace` allows to overwrite them."""
    if any((out / name).exists() for name in ("run.json", "campaign.json")):
        raise IngestError(f"{out}: contains a run or a campaign; choose another folder with --out")
    try:
        kept = json.loads((out / ABOUT_FILE).read_bytes())["question"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if kept != json.loads(json.dumps(question)) and not replace:
        raise IngestError(
            f"{out}: contains an import of other files or settings; choose another folder, or use --overwrite"
        )


def import_traces(
    files: list[str],
    description: TraceDescription,
    out: Path,
    session: Callable[[], AbstractContextManager[SparkSession]],
    *,
    spark: bool = False,
) -> list[dict[str, Any]]:
    """Write the facts of each ns-2 trace to a folder of its own; return a summary of each run."""
    folders = name_folders(files, out.absolute())  # workers may have another working directory
    bad: list[dict[str, Any]]
    if spark or sum(measure_size(path) for path in files) > IN_MEMORY:
        from roamcast.ingest.distributed import ingest_runs

        with session() as started:
            made, bad = ingest_runs(started, folders, description)
        runs = [
            {
                "file": run.path,
                "folder": run.folder.name,
                "lines": run.lines,
                "bad": run.bad,
                "notes": run.notes,
            }
            for run in made
        ]
    else:
        runs, bad = [], []
        for path, folder in folders.items():
            found = assemble(path, read(find("ns2trace"), FilePart(path)), description)
            found.facts.write(folder)
            lines = found.facts.run.events_processed
            runs.append(
                {
                    "file": path,
                    "folder": folder.name,
                    "lines": lines,
                    "bad": len(found.bad),
                    "notes": found.notes,
                }
            )
            bad += [{"file": path, **row._asdict()} for row in found.bad]
    write_bad_lines(bad, out)
    return runs


def import_movement(
    files: list[str],
    form: TraceFormat,
    options: Mapping[str, str],
    out: Path,
    *,
    always: bool = False,
    tolerance: float = 0.0,
) -> dict[str, Any]:
    """Write the movement of traces and a scenario that uses it; return a summary.

    Nodes are present from their first to their last position in the trace or, with `always`, all the time.
    Positions within `tolerance` [m] of straight movement are left out.
    """
    if tolerance and form.name == "ns2movement":
        raise IngestError("ns2movement has destinations, not positions, so none can be left out")
    if form.name in ("ns2movement", "bonnmotion") and len(files) > 1:
        raise IngestError(
            f"{form.name} identifies nodes by number, so {len(files)} files cannot be merged; give one file"
        )
    if (size := sum(measure_size(path) for path in files)) > MOST_TRACE:
        raise IngestError(
            f"{size:,} bytes of movement exceed the maximum of a scenario ({MOST_TRACE:,}); "
            f'reduce them first, for example with spark.read.format("roamcast.{form.name}")'
        )
    bad: list[dict[str, Any]] = []
    good = 0

    def rows() -> Iterator[Any]:
        nonlocal good
        for path in files:
            line = -1
            for row in read(form, FilePart(path), options):
                if isinstance(row, BadLine):
                    bad.append({"file": path, **row._asdict()})
                else:
                    good += (
                        row.offset != line or form.name != "bonnmotion"
                    )  # a BonnMotion line yields many rows
                    line = row.offset
                    yield row

    try:
        found = (
            movement.follow_orders(rows())
            if form.name == "ns2movement"
            else movement.follow_positions(rows(), sampled=form.name != "bonnmotion", tolerance=tolerance)
        )
    except IngestError as error:
        why = f" ({bad[0]['file']}, {bad[0]['offset']}: {bad[0]['why']})" if bad else ""
        raise IngestError(f"{', '.join(files)}: {error}{why}") from None
    if always:
        found = found._replace(present=[movement.NodePresence()] * len(found.names))
    if bad:
        refuse_mostly_bad(bad[0]["file"], good, len(bad), bad[0]["offset"], bad[0]["why"])
    movement.write(found, out, name_run(files[0]), files)
    write_bad_lines(bad, out)
    return {
        "format": form.name,
        "nodes": len(found.names),
        "legs": len(found.legs.node),
        "width": found.width,
        "height": found.height,
        "duration": found.duration,
        "origin": found.origin,
        "doubled": found.doubled,
        "late": found.late,
        "early": found.early,
        "good": good,
        "bad": len(bad),
        "scenario": str(out / movement.SCENARIO_FILE),
    }


def name_folders(files: list[str], out: Path) -> dict[str, Path]:
    """Return a folder for each file, named after the file; equal names get a number."""
    taken: set[str] = set()
    folders: dict[str, Path] = {}
    for path in files:
        name, number = name_run(path), 1
        while name in taken:
            number += 1
            name = f"{name_run(path)}-{number}"
        taken.add(name)
        folders[path] = out / name
    return folders


def write_bad_lines(bad: list[dict[str, Any]], out: Path) -> None:
    """Write the bad lines with their reasons to `BAD_FILE`; write no file if there are none."""
    target = out / BAD_FILE
    target.unlink(missing_ok=True)
    if bad:
        pq.write_table(pa.Table.from_pylist(bad[:_SHOWN_BAD], BAD), target)


def conclude(out: Path, question: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """Write the sources, settings and summary of an import; this marks the folder as complete."""
    text = json.dumps({"question": question, **result}, indent=2)
    (out / ABOUT_FILE).write_text(f"{text}\n", encoding="utf-8")
