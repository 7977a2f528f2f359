"""The first use of a warm session: it loads and compiles what commands need, so that they need not wait."""

from __future__ import annotations

from roamcast.pipeline.spark.archive import exercise
from roamcast.pipeline.spark.cluster import SparkOptions, WarmUse
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.spark.session import open_session
from roamcast.pipeline.warm.client import use_warm


def prepare() -> None:
    """Have the running session do what queries and campaigns do."""
    options = use_warm(SparkOptions(warm=WarmUse.IF_RUNNING))
    if options.warm is WarmUse.ATTACHED:
        with open_session(options) as spark, format_error("preparing the session", keeps=False):
            exercise(spark)
