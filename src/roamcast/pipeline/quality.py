"""Data-quality checks of a campaign's tables: each is an SQL query that counts the rows that violate it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from roamcast.campaign.tables import QUALITY
from roamcast.pipeline.spark.errors import format_error
from roamcast.pipeline.views import register_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from roamcast.pipeline.views import TableSource


class QualityCheck(NamedTuple):
    """A condition on tables."""

    name: str
    tables: tuple[str, ...]
    "The tables that the query reads; a check of tables that do not exist yet is left out."
    meaning: str
    query: str
    "Counts the violating rows."


def _check(name: str, tables: str, meaning: str, query: str) -> QualityCheck:
    return QualityCheck(name, tuple(tables.split()), meaning, " ".join(query.split()))


CHECKS = (
    _check(
        "runs are measured",
        "runs metrics",
        "every completed run has a row of metrics",
        "select count(*) from runs left anti join metrics using (run) where status = 'done'",
    ),
    _check(
        "metrics are unique",
        "metrics",
        "a run has one row of metrics",
        "select count(*) from (select run from metrics group by run having count(*) > 1)",
    ),
    _check(
        "metrics are of planned runs",
        "metrics plan",
        "every row of metrics is of a planned run",
        "select count(*) from metrics left anti join plan using (run)",
    ),
    _check(
        "delivery rates are shares",
        "metrics",
        "delivery rates are between 0 and 1",
        "select count(*) from metrics where delivery_rate not between 0 and 1",
    ),
    _check(
        "runs have a description",
        "runs about",
        "every completed run has a row of `about`",
        "select count(*) from runs left anti join about using (run) where status = 'done'",
    ),
    _check(
        "facts carry their cell",
        "about",
        "campaign, protocol, seed and point of a run are known",
        "select count(*) from about where protocol is null or seed is null or point is null",
    ),
    _check(
        "cells agree with the plan",
        "about points",
        "protocol, seed and point of a run are a cell of the plan",
        """select count(*) from about a left anti join points p
           on p.run = a.run and p.protocol = a.protocol and p.seed = a.seed and p.point = a.point
           where a.run in (select run from points)""",
    ),
    _check(
        "publications are unique",
        "publications",
        "a publication has one row in its run",
        """select count(*) from
           (select run, publication from publications group by run, publication having count(*) > 1)""",
    ),
    _check(
        "deliveries are of publications",
        "deliveries publications",
        "a delivered publication was published in the same run",
        "select count(*) from deliveries left anti join publications using (run, publication)",
    ),
    _check(
        "deliveries follow publications",
        "deliveries publications",
        "nothing is delivered before it was published",
        """select count(*) from deliveries d join publications p
           on p.run = d.run and p.publication = d.publication where d.time < p.time""",
    ),
    _check(
        "expectations are of publications",
        "expectations publications",
        "an expected publication was published in the same run",
        "select count(*) from expectations left anti join publications using (run, publication)",
    ),
    _check(
        "transmissions are within the run",
        "transmissions plan",
        "transmissions begin between 0 and the duration of the run",
        """select count(*) from transmissions t join plan on plan.run = t.run
           where t.time < 0 or t.time > plan.duration""",
    ),
    _check(
        "nodes exist",
        "transmissions plan",
        "the node of a transmission is one of the scenario's",
        """select count(*) from transmissions t join plan on plan.run = t.run
           where t.node < 0 or t.node >= plan.nodes""",
    ),
    _check(
        "legs have a direction in time",
        "legs",
        "the legs of a node do not end before they start",
        "select count(*) from legs where end < start",
    ),
)
"All checks, in the order of the table `quality`."


def check_quality(spark: SparkSession, tables: TableSource) -> pa.Table:
    """Return the table `quality`: every check with its query, its result and the number of violating rows."""
    known = set(register_views(spark, tables))
    rows = []
    for check in CHECKS:
        if not known.issuperset(check.tables):
            continue
        with format_error(f"checking that {check.name}"):
            [[count]] = spark.sql(check.query).collect()
        result = "failed" if count else "passed"
        rows.append(
            {
                "check": check.name,
                "meaning": check.meaning,
                "sql": check.query,
                "result": result,
                "count": count,
            }
        )
    return pa.Table.from_pylist(rows, QUALITY)
