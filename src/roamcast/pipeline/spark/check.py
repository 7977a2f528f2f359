"""Examination of a cluster: whether its executors have what campaigns need."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from roamcast.fingerprint import package_version
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import await_executors, count_slots
from roamcast.pipeline.spark.session import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_PER_SLOT = 3
"Number of tasks per slot, so that nearly every executor gets one; executors without a task are reported."


@dataclass(frozen=True)
class ExecutorInfo:
    """The description of an executor, from its Python process."""

    host: str
    address: str
    process: int
    "Process id of its JVM."
    python: str
    roamcast: str
    "The version of its code; empty if Roamcast is not installed."
    kernel: str
    "The problem of the compiled kernel; empty if there is none."
    memory: int
    "Memory of its machine [B]."
    free: int
    "Free memory of its machine [B]."
    store: str
    "The problem of the campaign's folder; empty if there is none."


@dataclass(frozen=True)
class ClusterReport:
    """The result of an examination."""

    executors: list[ExecutorInfo]
    missed: int
    "Registered executors that did not answer."
    ours: str
    "The version of the code here."
    python: str

    def lacks(self) -> list[str]:
        """Return a line for each problem, with the executor."""
        lines = []
        for each in self.executors:
            where = f"{each.host} ({each.address})"
            if not each.roamcast:
                lines.append(f"{where} has no Roamcast; install the same wheel there")
            elif each.roamcast != self.ours:
                lines.append(
                    f"{where} runs Roamcast {each.roamcast}, this is {self.ours}; install the same wheel"
                )
            if each.kernel:
                lines.append(f"{where}: the compiled kernel cannot be imported: {each.kernel}")
            if each.python.split(".")[:2] != self.python.split(".")[:2]:
                lines.append(
                    f"{where} runs Python {each.python}, this is {self.python}; Spark wants them alike"
                )
            if each.store:
                lines.append(f"{where}: {each.store}")
        if self.missed:
            lines.append(f"{self.missed} executors are registered and did not answer; look at their logs")
        return lines

    def record(self) -> dict[str, Any]:
        """Return the result for `--json`."""
        return asdict(self) | {"lacks": self.lacks()}


def examine(
    spark: SparkSession, store: Path | None = None, say: Callable[[str], object] = lambda _: None
) -> ClusterReport:
    """Examine every executor; with a `store`, also whether it sees the same folder."""
    import platform

    await_executors(spark, say)
    marker = None
    if store is not None:
        store.mkdir(parents=True, exist_ok=True)
        marker = store / f".seen-by-{os.getpid()}"
        marker.touch()
    count = _TASKS_PER_SLOT * count_slots(spark)
    try:
        with format_error("looking at its executors"):
            numbers = spark.range(0, count, 1, count)
            rows = numbers.mapInArrow(_examination(str(marker or "")), "found string").toArrow()
    finally:
        if marker is not None:
            marker.unlink(missing_ok=True)
    answers = map(json.loads, rows["found"].to_pylist())
    rows = {(answer["host"], answer["address"], answer["process"]): answer for answer in answers}
    found = [ExecutorInfo(**rows[key]) for key in sorted(rows)]
    registered = len(found)
    if not is_remote(spark) and not spark.sparkContext.master.startswith("local["):
        registered = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    return ClusterReport(found, max(registered - len(found), 0), package_version(), platform.python_version())


def _examination(marker: str) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Return the function of a task; it is pickled by value, because an executor may lack Roamcast."""

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import json
        import os
        import platform
        import socket
        import time

        import pyarrow as pa

        def find_address(host: str) -> str:
            try:
                return socket.gethostbyname(host)
            except OSError:
                return "?"

        def parent(process: int) -> int:
            with open(f"/proc/{process}/stat") as stat:  # noqa: PTH123
                return int(stat.read().rpartition(")")[2].split()[1])

        version = kernel = seen = ""
        try:
            from roamcast.fingerprint import package_version

            version = package_version()
        except ImportError:
            pass
        try:
            import roamcast._kernel  # noqa: F401
        except ImportError as error:
            kernel = str(error)
        if marker and not os.path.exists(marker):  # noqa: PTH110
            seen = f"does not see {os.path.dirname(marker)}; it must be a folder that all share"  # noqa: PTH120
        elif marker and not os.access(os.path.dirname(marker), os.W_OK):  # noqa: PTH120
            seen = f"may not write to {os.path.dirname(marker)}"  # noqa: PTH120
        page = os.sysconf("SC_PAGE_SIZE")
        host = socket.gethostname()
        found = {
            "host": host,
            "address": os.environ.get("SPARK_LOCAL_IP") or find_address(host),
            "process": parent(parent(os.getpid())),
            "python": platform.python_version(),
            "roamcast": version,
            "kernel": kernel,
            "memory": page * os.sysconf("SC_PHYS_PAGES"),
            "free": page * os.sysconf("SC_AVPHYS_PAGES"),
            "store": seen,
        }
        for _ in batches:
            time.sleep(0.1)  # so that one executor does not answer for all
        yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

    return look
