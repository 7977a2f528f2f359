"""Settings of Spark sessions: of all, of those with remote executors, and those that a server accepts."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from roamcast.pipeline.spark.cluster import LOOPBACK
from roamcast.pipeline.spark.sizing import driver_memory, java_options, shuffle_partitions

RETRIES = 4
"Number of attempts of a task whose worker died; an error within a run does not end its worker."

REMOTELY = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
"The settings that a session of a server may set."

ELSEWHERE = {
    # What went wrong on one executor is tried on another.
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "1",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": str(RETRIES - 1),  # Spark wants fewer than tries
    "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": "3",
    "spark.excludeOnFailure.stage.maxFailedExecutorsPerNode": "1000",
}
"Settings for executors that this command did not start."


def defaults(folder: Path, address: str, sharing: str, size: int = 0) -> dict[str, str]:
    """Return the default settings of a session for `size` bytes of input."""
    logging = Path(__file__).with_name("log4j2.properties")
    options = f"-Dlog4j2.configurationFile={logging.as_uri()} {java_options(size)} {sharing}".strip()
    return {
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.driver.memory": driver_memory(size),
        "spark.driver.extraJavaOptions": options,
        "spark.local.dir": str(folder),
        "spark.locality.wait": "0s",
        "spark.python.worker.reuse": "true",
        # Commits need not wait until every run has begun.
        "spark.scheduler.mode": "FAIR",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(shuffle_partitions(size)),
        # A run's id is a string, even where its digits look like a number.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.task.maxFailures": str(RETRIES),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def set_environment(address: str, settings: dict[str, str]) -> None:
    """Set the environment variables by which PySpark and its workers find this Python and this address."""
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYSPARK_PYTHON"] = settings.get("spark.pyspark.python", sys.executable)
    if address == LOOPBACK:
        os.environ["SPARK_LOCAL_IP"] = address
    else:
        os.environ.pop("SPARK_LOCAL_IP", None)
    os.environ.pop("SPARK_REMOTE", None)


def with_retries(master: str) -> str:
    """Return the master with retries: `local[2]` repeats no task whose worker died, `local[2,4]` does."""
    found = re.fullmatch(r"local\[(\d+|\*)\]", master)
    if master == "local":
        return f"local[1,{RETRIES}]"
    return f"local[{found[1]},{RETRIES}]" if found else master
