"""An archive of the classes that Spark's JVM loads each time: `python -m roamcast.pipeline.spark.archive`.

Loading and verifying some ten thousand classes is most of what a session's start costs. Java 17 can keep them
as they are in memory (dynamic class data sharing); an archive of another Java or another Spark is not used.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

_EXIT = 120.0
"Seconds for the JVM to write the archive when it ends."


def find_archive(java: str) -> Path:
    """Where the archive is for the Java that tells `java` of itself, whether it was made or not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roamcast"
    spark = version("pyspark")
    jars = Path(sys.prefix) if "SPARK_HOME" not in os.environ else Path(os.environ["SPARK_HOME"])
    key = hashlib.blake2b(f"{java}\n{spark}\n{jars}".encode(), digest_size=6).hexdigest()
    return cache / f"spark-{spark}-{key}.jsa"


def make_archive() -> Path:
    """Make the archive, if there is none, by a session that does what campaigns do; where it is."""
    from roamcast.pipeline.spark.session import need_java, open_session

    archive = find_archive(need_java())
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_name(f".{archive.name}.{os.getpid()}")
    try:
        with open_session("local[1]", patience=_EXIT, archive=draft) as spark:
            _exercise(spark)
        draft.replace(archive)
    finally:
        draft.unlink(missing_ok=True)
    return archive


def _exercise(spark: object) -> None:
    """Use what campaigns use: files, Python in Arrow, joins, groups, answers as Arrow."""
    from pyspark.sql import SparkSession, functions

    assert isinstance(spark, SparkSession)
    with TemporaryDirectory() as folder:
        frame = spark.range(0, 100, 1, 2).withColumn("half", functions.col("id") / 2)
        frame.write.parquet(f"{folder}/rows")
        rows = spark.read.schema(frame.schema).parquet(f"{folder}/rows")
        doubled = rows.mapInArrow(lambda batches: batches, rows.schema)
        joined = doubled.join(functions.broadcast(frame), "id").repartition(2)
        grouped = joined.groupBy((functions.col("id") % 3).alias("key")).agg(functions.avg(frame["half"]))
        grouped.sort("key").toArrow()


if __name__ == "__main__":
    print(make_archive())
