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
from time import perf_counter
from typing import TYPE_CHECKING

from roamcast.errors import UserError

if TYPE_CHECKING:
    from logging import LogRecord

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

RETRIES = 4
"How often Spark tries a task whose worker died; an error inside a run is no such death."


class SessionError(UserError):
    """Spark cannot start here, or stopped."""


def local_master() -> str:
    """The embedded session, on all the processors that this process may use."""
    return f"local[{len(os.sched_getaffinity(0))}]"


@contextmanager
def open_session(master: str | None = None, settings: dict[str, str] | None = None) -> Iterator[SparkSession]:
    """A Spark session that ends with the block, together with every process that it started."""
    folder = Path(tempfile.mkdtemp(prefix="roamcast-spark-"))
    patience = 3.0
    try:
        spark = _start(master or local_master(), folder, settings or {})
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


def warm_up(spark: SparkSession, slots: int | None = None) -> float:
    """Have every slot's Python worker up with the simulator imported; the seconds it took.

    Raises `SessionError` if an executor has another Roamcast than this process.
    """
    from roamcast.pipeline.version import code_version

    began = perf_counter()
    count = slots or spark.sparkContext.defaultParallelism
    ours = code_version()

    def look(_: int) -> str:
        import time

        from roamcast.pipeline.version import code_version

        try:
            from roamcast.pipeline.task import SIMULATOR, find_runner

            find_runner(SIMULATOR)
        except ImportError:
            return "no simulator"
        time.sleep(0.05)  # so that one worker does not answer for all
        return code_version()

    theirs = set(spark.sparkContext.parallelize(range(count), count).map(look).collect()) - {ours}
    if theirs:
        raise SessionError(
            f"an executor of {spark.sparkContext.master} runs Roamcast {theirs.pop()}, this is {ours}; "
            "install the same wheel on every worker"
        )
    return perf_counter() - began


def _start(master: str, folder: Path, settings: dict[str, str]) -> SparkSession:
    _need_java()
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _set_environment(master)
    conf = SparkConf(loadDefaults=False).setMaster(_with_retries(master)).setAppName("roamcast")
    conf.setAll(list((_defaults(folder) | settings).items()))
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


def _defaults(folder: Path) -> dict[str, str]:
    logging = Path(__file__).with_name("log4j2.properties")
    # A session lives for minutes: compiling its bytecode twice over costs more than it brings.
    options = f"-Dlog4j2.configurationFile={logging.as_uri()} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
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


def _set_environment(master: str) -> None:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if master.startswith("local") or "127.0.0.1" in master or "localhost" in master:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.pop("SPARK_REMOTE", None)


def _with_retries(master: str) -> str:
    """`local[2]` never retries a task whose worker died; `local[2,4]` does."""
    found = re.fullmatch(r"local\[(\d+|\*)\]", master)
    if master == "local":
        return f"local[1,{RETRIES}]"
    return f"local[{found[1]},{RETRIES}]" if found else master


def _need_java() -> None:
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
        raise SessionError(f"Spark gave up {what}: {one_line(error)}; {again}") from None


def _stop(spark: SparkSession, patience: float) -> None:
    """End the session politely if it answers in time, else by killing the JVM; its workers follow."""
    gateway = spark.sparkContext._gateway
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
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    _forget()


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
