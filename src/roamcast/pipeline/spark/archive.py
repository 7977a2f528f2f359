"""An archive of the classes of Spark's JVM, for a quicker start: `python -m roamcast.pipeline.spark.archive`.

Loading and verifying some ten thousand classes takes most of a session's start. Java 17 can archive them as
they are in memory (dynamic class data sharing). An archive of another version of Java or Spark is not used.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXIT = 120.0
"Time for the JVM to write the archive when it ends [s]."


def find_archive(java: str) -> Path:
    """Return the path of the archive for the Java version `java`; the file need not exist."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roamcast"
    spark = version("pyspark")
    jars = Path(sys.prefix) if "SPARK_HOME" not in os.environ else Path(os.environ["SPARK_HOME"])
    key = hashlib.blake2b(f"{java}\n{spark}\n{jars}".encode(), digest_size=6).hexdigest()
    return cache / f"spark-{spark}-{key}.jsa"


def make_archive() -> Path:
    """Return the path of the archive; if it does not exist, write it by a session like those of campaigns.

    Raise `SessionError` if the JVM has not written it in time.
    """
    from roamcast.pipeline.spark.errors import SessionError
    from roamcast.pipeline.spark.session import check_java, open_session

    archive = find_archive(check_java())
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_name(f".{archive.name}.{os.getpid()}")
    try:
        with open_session("local[1]", patience=_EXIT, archive=draft) as spark:
            exercise(spark)
        try:
            draft.replace(archive)
        except FileNotFoundError:
            raise SessionError(
                f"{archive}: Java did not write its archive of classes in {_EXIT:.0f} s; without it sessions "
                "start slower; run this command again on a less busy machine"
            ) from None
    finally:
        draft.unlink(missing_ok=True)
    return archive


def exercise(spark: SparkSession) -> None:
    """Load the classes that campaigns use: files, Python with Arrow, and the stages summarise and judge."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from roamcast.campaign.tables import TABLES
    from roamcast.lake.columns import spark_schema
    from roamcast.pipeline.measuring.judge import judge
    from roamcast.pipeline.measuring.summarise import compare, summarise

    with TemporaryDirectory() as folder:
        tables = {}
        for name, rows in _generate_campaign().items():
            schema = TABLES[name]
            pq.write_table(pa.Table.from_pylist(rows, schema), f"{folder}/{name}.parquet")
            tables[name] = spark.read.schema(spark_schema(schema)).parquet(f"{folder}/{name}.parquet")
        metrics, points = tables["metrics"], tables["points"]
        metrics.mapInArrow(lambda batches: batches, metrics.schema).toArrow()
        summarise(metrics, points)
        compare(metrics, points)
        judge(metrics, tables["checks"], tables["terms"])


def _generate_campaign() -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a campaign of two protocols, two seeds and a claim."""
    from roamcast.metrics.declarations import METRICS

    points = [
        {"sweep": "s", "point": "{}", "protocol": protocol, "seed": seed, "run": f"{protocol}{seed}"}
        for protocol in ("a", "b")
        for seed in (1, 2)
    ]
    part = {"claim": "c", "part": 0}
    term = {"metric": "messages", "above": 1.0, "below": 0.0}
    check = {"tells": "", "terms": 2, "divisor": "none", "low": 0.0, "strict": False, "scale": "amount"}
    return {
        "points": points,
        "metrics": [
            {"run": each["run"]} | dict.fromkeys(METRICS, 0.5 + number) for number, each in enumerate(points)
        ],
        "checks": [part | check],
        "terms": [part | term | {"seed": each["seed"], "run": each["run"]} for each in points],
    }


def main() -> None:
    """Print the path of the archive, or why there is none: sessions work without it."""
    from roamcast.pipeline.spark.errors import SessionError

    try:
        print(make_archive())
    except SessionError as error:
        print(error)


if __name__ == "__main__":
    main()
