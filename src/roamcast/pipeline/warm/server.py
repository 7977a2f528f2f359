"""The server of the warm session: `python -m roamcast.pipeline.warm.server`, started by `warm.client`.

A Python process that owns a JVM with Spark Connect, as every command owns an embedded one. Standard input has
the `ServerOrder`. The JVM and its workers end with this process, whatever ends it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from time import monotonic, time
from typing import IO, TYPE_CHECKING, Any

import msgspec

from roamcast.fingerprint import package_version
from roamcast.pipeline.spark.cluster import LOOPBACK, SparkOptions, count_processors
from roamcast.pipeline.spark.executors import WARM_SLOTS, warm_up
from roamcast.pipeline.spark.session import local_master, open_session
from roamcast.pipeline.warm.identity import session_identity
from roamcast.pipeline.warm.runtime import (
    SessionRecord,
    remove_record,
    runtime_folder,
    take_lock,
    try_lock,
    write_record,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE = 30.0
"Time for an earlier server to end [s]."

_LONGEST_PAUSE = 1.0
"Longest interval between looks at the JVM and its users [s]."


class ServerOrder(msgspec.Struct, frozen=True):
    """The session that a command asks for."""

    token: str
    idle: float
    "Time without use after which the server ends [s]."
    master: str | None = None
    settings: dict[str, str] = {}


def server_settings(slots: int) -> dict[str, str]:
    """Return the settings of Spark that make an embedded session a server."""
    return {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": "0",
        # The progress bar of a campaign counts finished tasks.
        "spark.connect.progress.reportInterval": "250ms",
        # What a killed command was doing is given up.
        "spark.connect.execute.manager.detachedTimeout": "60s",
        # With it every command has workers of its own, which start in seconds.
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.python.daemon.module": "roamcast.pipeline.warm.worker_daemon",
        "spark.ui.retainedJobs": "100",
        "spark.ui.retainedStages": "100",
        "spark.sql.ui.retainedExecutions": "20",
        WARM_SLOTS: str(slots),
    }


def main() -> None:
    """Read the order, start the session, write its record, and serve until it is idle or gets SIGTERM."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=ServerOrder)
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    folder = runtime_folder()
    # By the environment, which other users cannot see; they see the arguments of the JVM.
    os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = order.token
    identity = session_identity()
    master = order.master or local_master()
    slots = count_processors(master)
    options = SparkOptions(master, conf=order.settings)
    alive.append(take_lock(folder, "alive", _PATIENCE))
    try:
        with open_session(options, server_settings(slots)) as spark:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            warm_up(spark, slots)
            record = SessionRecord(
                pid=os.getpid(),
                port=connect_service(spark).localPort(),
                token=order.token,
                identity=identity,
                version=package_version(),
                master=master,
                slots=slots,
                idle=order.idle,
                started=time(),
            )
            write_record(folder, record)
            serve(spark, folder, order.idle, stopping)
    finally:
        remove_record(folder)


alive: list[IO[bytes]] = []
"The lock `alive`, which this process holds until it has ended."


def connect_service(spark: SparkSession) -> Any:
    """Return the JVM's object that serves Spark Connect."""
    package = spark._jvm.org.apache.spark.sql.connect.service
    return getattr(getattr(package, "SparkConnectService$"), "MODULE$")


def serve(spark: SparkSession, folder: Path, idle: float, stopping: threading.Event) -> None:
    """Return after `idle` seconds without use, when `stopping` is set, or when the JVM ends."""
    service = connect_service(spark)
    process = spark.sparkContext._gateway.proc
    last = monotonic()
    while not stopping.wait(min(_LONGEST_PAUSE, idle / 4)) and process.poll() is None:
        alone = try_lock(folder, "used")
        if alone is None:
            last = monotonic()
            continue
        with alone:
            if service.listActiveExecutions().isRight():  # of other clients, as notebooks
                last = monotonic()
            if monotonic() - last >= idle:
                remove_record(folder)
                return


if __name__ == "__main__":
    main()
