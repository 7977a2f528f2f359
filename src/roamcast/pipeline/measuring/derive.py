"""Update of the tables that depend on `metrics`: summary, differences and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from roamcast.campaign.checks import make_tables
from roamcast.campaign.plan import PlannedCell
from roamcast.campaign.tables import VERDICTS
from roamcast.pipeline.measuring.judge import judge
from roamcast.pipeline.measuring.summarise import compare, summarise
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.executors import embedded

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from roamcast.pipeline.campaign_folder import CampaignFolder


_FEW = 2_000
"Maximum number of points for which plans are interpreted."

_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def derive(
    spark: SparkSession, store: CampaignFolder, time: Callable[[str], AbstractContextManager[None]]
) -> None:
    """Summarise and judge the metrics in `store`; `time` measures a stage."""
    stale = store.stale()
    few = len(store.read_table("points")) <= _FEW
    metrics, points = store.frame(spark, "metrics"), store.frame(spark, "points")
    with time("summarise"), _interpreting(spark, few):
        wanted = {"summary": summarise, "differences": compare}
        made = {name: partial(make, metrics, points) for name, make in wanted.items() if name in stale}
        # Concurrently, because planning takes most of the time of a small table and uses one thread.
        with ThreadPoolExecutor(len(wanted)) as pool:
            found = list(pool.map(_collect, made, made.values()))
        for name, table in zip(made, found, strict=True):
            store.write_table(name, table)
    with time("judge"), _interpreting(spark, few):
        if "verdicts" not in stale:
            return
        if not len(store.read_table("checks")):
            store.write_table("verdicts", VERDICTS.empty_table())
            return
        checks, terms = store.frame(spark, "checks"), store.frame(spark, "terms")
        store.write_table("verdicts", _collect("verdicts", partial(judge, metrics, checks, terms)))


@contextmanager
def _interpreting(spark: SparkSession, few: bool) -> Iterator[None]:
    """Interpret plans if there are `few` rows: generating and compiling Java code takes a second."""
    settings = _INTERPRETED if few and embedded(spark) else {}
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def _collect(name: str, make: Callable[[], pa.Table]) -> pa.Table:
    with format_error(f"making the table {name!r}"):
        return make()


def derive_again(spark: SparkSession, store: CampaignFolder) -> None:
    """Summarise and judge the metrics in `store` again, also if other code made its plan."""
    campaign, _ = store.read_campaign()
    places = [PlannedCell(**row) for row in store.read_table("points").to_pylist()]
    for name, table in make_tables(campaign, places).items():
        store.write_table(name, table)
    derive(spark, store, lambda _: nullcontext())
