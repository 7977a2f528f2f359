"""The process that Spark's Python workers of a warm session are forked from, with all imports done.

Spark starts it as `python -m`, by the setting `spark.python.daemon.module`. A worker that is forked here has
the simulator, Arrow and the metrics at once, where a worker of PySpark's own daemon imports them for seconds.
"""

from __future__ import annotations

import gc

from roamcast.fingerprint import package_version

PRELOADED = (
    "pyarrow.parquet",
    "pandas",
    "pyspark.worker",
    "pyspark.sql.pandas.serializers",
    "roamcast.lake.lake",
    "roamcast.lake.staged_rows",
    "roamcast.metrics.declarations",
    "roamcast.metrics.run_metrics",
    "roamcast.pipeline.committing.batch_tasks",
    "roamcast.pipeline.measuring.measure",
    "roamcast.pipeline.running.runner",
    "roamcast.pipeline.running.task",
    "roamcast.pipeline.spark.spread",
)


def preload() -> None:
    """Import what tasks need, note the version of that code, and hide it from the garbage collector."""
    from importlib import import_module

    for name in PRELOADED:
        import_module(name)
    package_version()  # kept, so that tasks are compared with the code that is loaded and not with the disk
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark.daemon import manager

    preload()
    manager()
