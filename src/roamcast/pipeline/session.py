"""One Spark session per command: embedded by default, quiet, on loopback, and gone without a trace."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.pipeline.cluster import (
    LOOPBACK,
    Cluster,
    SessionError,
    find_address,
    is_local,
    need_answer,
)

if TYPE_CHECKING:
    from logging import LogRecord

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

OTHER_CODE = r"an executor on \S+ (has|runs) .*; install the same wheel on every worker"
"What a task says that finds another Roamcast than the driver's, or none."

RETRIES = 4
"How often Spark tries a task whose worker died; an error inside a run is no such death."


def local_master() -> str:
    """The embedded session, on all the processors that this process may use."""
    return f"local[{len(os.sched_getaffinity(0))}]"


@contextmanager
def open_session(
    where: Cluster | str | None = None,
    settings: dict[str, str] | None = None,
    *,
    patience: float = 3.0,
    archive: Path | None = None,
) -> Iterator[SparkSession]:
    """A Spark session that ends with the block, together with every process that it started.

    `patience` is for its end, in seconds; with `archive` it leaves its classes there for later sessions.
    """
    cluster = where if isinstance(where, Cluster) else Cluster(where)
    chosen = (settings or {}) | cluster.settings()
    folder = Path(tempfile.mkdtemp(prefix="roamcast-spark-"))
    try:
        if cluster.remote:
            spark = connect(cluster.remote, chosen)
        else:
            spark = _start(cluster.master or local_master(), folder, chosen, archive)
        try:
            yield spark
        except KeyboardInterrupt:
            patience = 0.0  # nobody waits for running tasks: what is done is on disk
            raise
        except Exception as error:
            if not interrupted(error):
                raise
            patience = 0.0
            raise KeyboardInterrupt from None
        finally:
            _stop(spark, patience)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def interrupted(error: BaseException) -> bool:
    """Whether an error is only what became of Ctrl-C.

    PySpark, interrupted while the JVM answers, asks it once more on its way out and complains of the answer.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        if isinstance(found, KeyboardInterrupt):
            return True
        seen.add(id(found))
        found = found.__cause__ or found.__context__
    return False


def _start(master: str, folder: Path, settings: dict[str, str], archive: Path | None = None) -> SparkSession:
    java = need_java()
    need_answer(master)
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    address = find_address(master)
    _set_environment(address, settings)
    conf = SparkConf(loadDefaults=False).setMaster(_with_retries(master)).setAppName("roamcast")
    sharing = f"-XX:ArchiveClassesAtExit={archive}" if archive else _share_classes(java)
    chosen = _defaults(folder, address, sharing) | ({} if is_local(master) else ELSEWHERE) | settings
    conf.setAll(list(chosen.items()))
    log = folder / "spark.log"
    earlier = _children(os.getpid())
    with log.open("wb") as errors:
        try:
            gateway = launch_gateway(conf, {"stderr": errors, "stdout": errors})
            context = SparkContext(conf=conf, gateway=gateway)
        except KeyboardInterrupt:
            # A JVM that nobody came to meet would wait for ever.
            for child in _children(os.getpid()) - earlier:
                for process in (*_children(child), child):
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
            raise
        except (PySparkRuntimeError, Exception) as error:
            SparkContext._gateway = None
            raise SessionError(f"Spark did not start with master {master!r}: {_reason(error, log)}") from None
    _hush(context)
    if threading.current_thread() is threading.main_thread():
        # PySpark's own handler calls into the JVM, which may not answer.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return SparkSession(context)


def connect(url: str, settings: dict[str, str]) -> SparkSession:
    """A session with a Spark Connect server; settings that only its start can change are not sent."""
    need_answer(url)
    try:
        import grpc  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SessionError(
            f"--remote needs Python packages that are not here ({error.name}); pip install 'pyspark[connect]'"
        ) from None
    try:
        spark = SparkSession.builder.remote(url).getOrCreate()  # PySpark's functions are then remote, too
        for key, value in (_REMOTELY | settings).items():
            spark.conf.set(key, value)
    except Exception as error:
        raise SessionError(f"the Spark Connect server at {url} did not take us: {one_line(error)}") from None
    return spark


_REMOTELY = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
"What of our settings a session of a server may have."


def _children(parent: int) -> set[int]:
    """The processes that `parent` started and that still run."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(int(stat.parent.name))
    return found


def _hush(context: SparkContext) -> None:
    """When the JVM goes, each thread that talked to it would print a traceback; once is enough."""
    import logging

    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_of_others)
    context._accumulatorServer.handle_error = lambda *_: None


def _is_of_others(record: LogRecord) -> bool:
    """Not Py4J's: it logs a lost connection as the root logger, with a traceback, besides raising it."""
    return Path(record.pathname).parent.name != "py4j"


ELSEWHERE = {
    # What went wrong on one executor is tried on another.
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "1",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": str(RETRIES - 1),  # Spark wants fewer than tries
    "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": "3",
    "spark.excludeOnFailure.stage.maxFailedExecutorsPerNode": "1000",
}
"Settings for executors that we did not start ourselves."


def _defaults(folder: Path, address: str, sharing: str) -> dict[str, str]:
    logging = Path(__file__).with_name("log4j2.properties")
    # A session lives for minutes: compiling its bytecode twice over costs more than it brings.
    options = f"-Dlog4j2.configurationFile={logging.as_uri()} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    options = f"{options} {sharing}".strip()
    return {
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": options,
        "spark.local.dir": str(folder),
        "spark.locality.wait": "0s",
        "spark.python.worker.reuse": "true",
        # Commits need not wait until every run has begun.
        "spark.scheduler.mode": "FAIR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        # A run's id is a string, even where its digits look like a number.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.task.maxFailures": str(RETRIES),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _set_environment(address: str, settings: dict[str, str]) -> None:
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYSPARK_PYTHON"] = settings.get("spark.pyspark.python", sys.executable)
    if address == LOOPBACK:
        os.environ["SPARK_LOCAL_IP"] = address
    else:
        os.environ.pop("SPARK_LOCAL_IP", None)
    os.environ.pop("SPARK_REMOTE", None)


def _with_retries(master: str) -> str:
    """`local[2]` never retries a task whose worker died; `local[2,4]` does."""
    found = re.fullmatch(r"local\[(\d+|\*)\]", master)
    if master == "local":
        return f"local[1,{RETRIES}]"
    return f"local[{found[1]},{RETRIES}]" if found else master


def _share_classes(java: str) -> str:
    """The option that takes classes from the archive, if one was made for this Java."""
    from roamcast.pipeline.archive import find_archive

    archive = find_archive(java)
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto" if archive.exists() else ""


def need_java() -> str:
    """What Java tells of its version; raises `SessionError` if there is none that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    remedy = "install Java 17 or later, as with: apt-get install openjdk-17-jre-headless"
    if java is None:
        where = f"JAVA_HOME={home}" if home else "PATH"
        raise SessionError(f"Spark needs Java, and {where} has none; {remedy}")
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', told)
    if not found or int(found[1]) < 17:
        raise SessionError(
            f"Spark needs Java 17, and {java} is {told.splitlines()[:1] or 'silent'}; {remedy}"
        )
    return told


def _reason(error: BaseException, log: Path) -> str:
    complaints = [
        line
        for line in log.read_text(errors="replace").splitlines()
        if re.search("Error|Exception|Caused", line)
    ]
    return (complaints or [one_line(error)])[-1][:300]


def one_line(error: BaseException) -> str:
    """The first line of an error that says something; Spark's errors are thousands of characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Exception:" in line or "Error:" in line or "crashed" in line]
    return (telling or lines or [type(error).__name__])[0][:300]


@contextmanager
def briefly(what: str) -> Iterator[None]:
    """Tell in one line if Spark fails in the block; an error of our own code stays as it is."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    again = "finished runs are kept: run the same command again"
    try:
        yield
    except (Py4JNetworkError, ConnectionError, EOFError):
        raise SessionError(f"Spark's Java process ended while it was {what}; {again}") from None
    except (PySparkException, Py4JError) as error:
        if found := re.search(OTHER_CODE, str(error)):
            raise SessionError(found[0]) from None
        raise SessionError(f"Spark gave up {what}: {one_line(error)}; {again}") from None


def _stop(spark: SparkSession, patience: float) -> None:
    """End the session politely if it answers in time, else by killing the JVM; its workers follow."""
    context = None if is_remote(spark) else spark.sparkContext
    gateway = None if context is None else context._gateway
    polite = threading.Thread(target=lambda: _politely(spark), daemon=True)
    if patience:
        polite.start()
        polite.join(patience)
    process = getattr(gateway, "proc", None)
    if process is not None:
        with suppress(OSError):
            process.stdin.close()  # the JVM ends when its stdin does
        if not patience or polite.is_alive():
            process.kill()
        try:
            process.wait(max(patience, 3.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if context is not None:
        _forget()
    else:
        for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
            os.environ.pop(name, None)


def is_remote(spark: SparkSession) -> bool:
    """Whether a session is with a Spark Connect server, so that there is no SparkContext."""
    return ".connect." in type(spark).__module__


def _politely(spark: SparkSession) -> None:
    with suppress(Exception):
        spark.stop()


def _forget() -> None:
    """Let the next session of this process start a JVM of its own."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with suppress(Exception):
        if SparkContext._gateway is not None:
            SparkContext._gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
