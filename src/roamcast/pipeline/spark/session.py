"""One Spark session per command: by default embedded, on loopback, without log output or leftover files.

A command may use a server instead: one that the user names, or the warm session of this machine.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from roamcast.pipeline.spark.cluster import (
    SparkOptions,
    WarmUse,
    check_reachable,
    count_processors,
    find_address,
    is_local,
)
from roamcast.pipeline.spark.configuration import ELSEWHERE, REMOTELY, defaults, set_environment, with_retries
from roamcast.pipeline.spark.errors import SessionError, interrupted, one_line
from roamcast.pipeline.spark.sizing import SMALLEST, shuffle_partitions

if TYPE_CHECKING:
    from logging import LogRecord

    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def local_master() -> str:
    """Return the master of an embedded session on all processors that this process may use."""
    return f"local[{count_processors(None)}]"


def warn(line: str) -> None:
    """Print a line to stderr, as commands do."""
    print(f"roamcast: {line}", file=sys.stderr, flush=True)


@contextmanager
def open_session(
    where: SparkOptions | str | None = None,
    settings: dict[str, str] | None = None,
    *,
    patience: float = 3.0,
    archive: Path | None = None,
    hasty: bool = False,
    size: int = 0,
    say: Callable[[str], object] = warn,
) -> Iterator[SparkSession]:
    """Return a Spark session that ends with the block, together with every process that it started.

    `patience` is the maximum time for its end [s]. With `archive`, it writes its classes there for later
    sessions. With `hasty`, a thread waits for the end of the session, and Python waits for that thread when
    it exits. Memory and partitions are chosen for `size` bytes of input. `say` gets the reason if a warm
    session is not used.
    """
    cluster = where if isinstance(where, SparkOptions) else SparkOptions(where)
    if cluster.warm is not WarmUse.NEVER:
        from roamcast.pipeline.warm.client import use_warm

        cluster = use_warm(cluster, say)
    chosen = (settings or {}) | cluster.settings()
    folder = Path(tempfile.mkdtemp(prefix="roamcast-spark-"))
    later = False
    try:
        if cluster.remote:
            warm = cluster.warm is WarmUse.ATTACHED
            if shuffle_partitions(size) > SMALLEST or not warm:
                chosen = {"spark.sql.shuffle.partitions": str(shuffle_partitions(size))} | chosen
            spark = connect(cluster.remote, chosen, warm=warm)
        else:
            spark = _start(cluster.master or local_master(), folder, chosen, archive, size)
        try:
            yield spark
            later = hasty and not cluster.remote
        except KeyboardInterrupt:
            patience = 0.0  # running tasks are not awaited: finished runs are on disk
            raise
        except Exception as error:
            if not interrupted(error):
                raise
            patience = 0.0
            raise KeyboardInterrupt from None
        finally:
            if later:
                _ending.append(threading.Thread(target=_stop_and_tidy, args=(spark, patience, folder)))
                _ending[-1].start()
            else:
                _stop(spark, patience)
    finally:
        if not later:
            shutil.rmtree(folder, ignore_errors=True)


_ending: list[threading.Thread] = []
"Threads that end the sessions of `hasty` callers."


def _stop_and_tidy(spark: SparkSession, patience: float, folder: Path) -> None:
    _stop(spark, patience)
    shutil.rmtree(folder, ignore_errors=True)


def _start(
    master: str, folder: Path, settings: dict[str, str], archive: Path | None = None, size: int = 0
) -> SparkSession:
    java = check_java()
    check_reachable(master)
    while _ending:  # PySpark knows one session at a time
        _ending.pop().join()
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    address = find_address(master)
    set_environment(address, settings)
    conf = SparkConf(loadDefaults=False).setMaster(with_retries(master)).setAppName("roamcast")
    sharing = f"-XX:ArchiveClassesAtExit={archive}" if archive else _share_classes(java)
    chosen = defaults(folder, address, sharing, size) | ({} if is_local(master) else ELSEWHERE) | settings
    conf.setAll(list(chosen.items()))
    log = folder / "spark.log"
    earlier = _children(os.getpid())
    with log.open("wb") as errors:
        try:
            gateway = launch_gateway(conf, {"stderr": errors, "stdout": errors})
            context = SparkContext(conf=conf, gateway=gateway)
        except KeyboardInterrupt:
            # A JVM to which no Python process connects would wait for ever.
            for child in _children(os.getpid()) - earlier:
                for process in (*_children(child), child):
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
            raise
        except (PySparkRuntimeError, Exception) as error:
            SparkContext._gateway = None
            raise SessionError(f"Spark did not start with master {master!r}: {_reason(error, log)}") from None
    _silence_callbacks(context)
    if threading.current_thread() is threading.main_thread():
        # PySpark's own handler calls into the JVM, which may not answer.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return SparkSession(context)


def connect(url: str, settings: dict[str, str], *, warm: bool = False) -> SparkSession:
    """Return a session of a Spark Connect server; settings that only its start can change are not sent.

    The server of a `warm` session is on this machine: if it does not answer, it has ended.
    """
    try:
        check_reachable(url)
    except SessionError:
        if not warm:
            raise
        raise SessionError(f"the warm session has ended; {_AGAIN}") from None
    try:
        import grpc  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SessionError(
            f"--remote needs Python packages that are not here ({error.name}); pip install 'roamcast[lab]'"
        ) from None
    try:
        spark = SparkSession.builder.remote(url).getOrCreate()  # PySpark's functions are then remote, too
        if warm:
            from pyspark.sql.connect.client.retries import DefaultPolicy

            spark.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES_HERE)])
            warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # the error says it
        for key, value in (settings if warm else REMOTELY | settings).items():
            spark.conf.set(key, value)
    except Exception as error:
        what = "warm session" if warm else f"Spark Connect server at {url.partition(';')[0]}"
        raise SessionError(f"the {what} did not take us: {one_line(error)}") from None
    return spark


_AGAIN = "run the same command again"
_RETRIES_HERE = 3
"Attempts to reach a server on this machine; PySpark's 15 take minutes after its end."


def _children(parent: int) -> set[int]:
    """Return the running child processes of `parent`."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(int(stat.parent.name))
    return found


def _silence_callbacks(context: SparkContext) -> None:
    """Suppress the tracebacks that threads would print after the JVM has ended."""
    import logging

    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_foreign_session)
    context._accumulatorServer.handle_error = lambda *_: None


def _foreign_session(record: LogRecord) -> bool:
    """Return False for records of Py4J, which logs a lost connection with a traceback besides raising it."""
    return Path(record.pathname).parent.name != "py4j"


def _share_classes(java: str) -> str:
    """Return the JVM option that loads classes from the archive, if one exists for this Java."""
    from roamcast.pipeline.spark.archive import find_archive

    archive = find_archive(java)
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto" if archive.exists() else ""


def check_java() -> str:
    """Return the output of `java -version`; raise `SessionError` if there is no Java that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    remedy = "install Java 17 or later, as with: apt-get install openjdk-17-jre-headless"
    if java is None:
        where = f"JAVA_HOME={home}" if home else "PATH"
        raise SessionError(f"Spark needs Java, and {where} has none; {remedy}")
    version = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', version)
    if not found or int(found[1]) < 17:
        raise SessionError(
            f"Spark needs Java 17, and {java} is {version.splitlines()[:1] or 'silent'}; {remedy}"
        )
    return version


def _reason(error: BaseException, log: Path) -> str:
    complaints = [
        line
        for line in log.read_text(errors="replace").splitlines()
        if re.search("Error|Exception|Caused", line)
    ]
    return (complaints or [one_line(error)])[-1][:300]


def _stop(spark: SparkSession, patience: float) -> None:
    """Stop the session; if it does not answer in time, kill the JVM, whose workers then end."""
    if is_remote(spark):
        _leave_server(spark, cancel=not patience)
        return
    gateway = spark.sparkContext._gateway
    polite = threading.Thread(target=lambda: _stop_gracefully(spark), daemon=True)
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
    _forget()


def _leave_server(spark: SparkSession, cancel: bool) -> None:
    """Release the session of a server, which keeps running; with `cancel`, end its jobs first."""

    def leave() -> None:
        with suppress(Exception):
            if cancel:
                spark.interruptAll()
        _stop_gracefully(spark)

    polite = threading.Thread(target=leave, daemon=True)
    polite.start()
    polite.join(_LEAVE)
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        os.environ.pop(name, None)


_LEAVE = 3.0
"Time for a server to release a session [s]."


def is_remote(spark: SparkSession) -> bool:
    """Return whether a session is one of a Spark Connect server, so that it has no SparkContext."""
    return ".connect." in type(spark).__module__


def _stop_gracefully(spark: SparkSession) -> None:
    with suppress(Exception):
        spark.stop()


def _forget() -> None:
    """Reset PySpark's global state, so that the next session of this process starts a new JVM."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with suppress(Exception):
        if SparkContext._gateway is not None:
            SparkContext._gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
