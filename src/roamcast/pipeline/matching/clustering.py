"""Grouping of many filters on Spark: MLlib's K-means over the vectors of `content.grouping`.

Groups are those of `kmeans_groups` on one machine: members and the filter of their channel, with K per event
type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roamcast.content.box.conjunction import fields_of
from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import BoundedCover
from roamcast.content.grouping.cluster import FilterCluster
from roamcast.content.grouping.features import embed, find_ends
from roamcast.fingerprint import checked, make_check, package_version
from roamcast.pipeline.matching.match_join import MatchingError, read_filter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roamcast.content.schema import EventType

_PARSED = pa.schema([("id", pa.int64()), ("type", pa.string()), ("coded", pa.binary()), ("why", pa.string())])
_COVERED = pa.schema([("members", pa.list_(pa.int64())), ("coded", pa.binary())])
_ENDS = pa.schema([("place", pa.int32()), ("low", pa.float64()), ("high", pa.float64())])


def cluster(
    filters: DataFrame, types: Mapping[str, EventType], k: int | None = None, seed: int = 0
) -> dict[tuple[int, ...], Filter]:
    """Group `filters` (id, filter: XPath or bytes); return each group's covering filter by its members."""
    parsed = _parse(filters, dict(types)).persist()
    try:
        bad = parsed.where("why is not null").first()
        if bad is not None:
            raise MatchingError(f"filter {bad['id']}: {bad['why']}")
        names = sorted(row["type"] for row in parsed.select("type").distinct().collect())
        groups: dict[tuple[int, ...], Filter] = {}
        for name in names:
            groups |= _cluster_type(parsed.where(parsed["type"] == name), types[name], k, seed)
        if not groups:
            raise MatchingError("no filters to group")
        return groups
    finally:
        parsed.unpersist()


def to_groups(groups: Mapping[tuple[int, ...], Filter]) -> list[FilterCluster]:
    """Return the groups as objects of `content.grouping`, in the order of their first members."""
    return [
        FilterCluster(members, filter)
        for members, filter in sorted(groups.items(), key=lambda pair: pair[0][0])
    ]


def _parse(filters: DataFrame, types: dict[str, EventType]) -> DataFrame:
    from pyspark.sql import functions as f

    bodies = filters.select("id", f.col("filter").alias("body"))
    return bodies.mapInArrow(
        checked(partial(parse_batches, types)), "id long, type string, coded binary, why string"
    )


def parse_batches(
    types: Mapping[str, EventType], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the event type and encoding of each filter (id, body), or the reason why it cannot be parsed."""
    for batch in batches:
        rows = []
        for id, body in zip(batch["id"].to_pylist(), batch["body"].to_pylist(), strict=True):
            row: dict[str, Any] = {"id": id, "type": None, "coded": None, "why": None}
            try:
                filter = read_filter(body, types)
                row |= {"type": filter.type.name, "coded": filter.to_bytes()}
            except ContentError as error:
                row["why"] = str(error)[:300]
            rows.append(row)
        yield pa.RecordBatch.from_pylist(rows, _PARSED)


def _cluster_type(
    parsed: DataFrame, type: EventType, k: int | None, seed: int
) -> dict[tuple[int, ...], Filter]:
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as f

    ends = _find_ends(parsed, type)
    features = partial(embed_batches, type, ends)
    rows = parsed.mapInArrow(checked(features), "id long, coded binary, features array<double>").persist()
    try:
        distinct = rows.agg(f.countDistinct("features"), f.countDistinct("coded")).first()
        assert distinct is not None
        count = count_groups(k, len(ends), filters=distinct[1], vectors=distinct[0])
        weighted = _weigh(rows, [len(_sample(type, place)) for place in ends])
        points = weighted.select("id", "coded", array_to_vector("features").alias("features"))
        if count < 2:
            labelled = points.withColumn("prediction", f.lit(0))
        else:
            labelled = KMeans(k=count, seed=seed, maxIter=50).fit(points).transform(points)
        found = _cover(labelled, type)
        return {
            tuple(row["members"]): Filter.from_bytes(bytes(row["coded"]), type) for row in found.collect()
        }
    finally:
        rows.unpersist()


def count_groups(k: int | None, fields: int, *, filters: int, vectors: int) -> int:
    """Return the number of groups: `k`, or the papers' K for this number of fields and distinct filters.

    K-means cannot find more groups than there are distinct vectors.
    """
    return min(k or max(1, min(fields, filters)), vectors)


def _sample(type: EventType, place: int) -> Any:
    from roamcast.content.grouping.features import columns

    return columns(type.fields[place].kind, None, (0, 1))


def _find_ends(parsed: DataFrame, type: EventType) -> dict[int, tuple[float, float]]:
    frame = parsed.mapInArrow(checked(partial(end_batches, type)), "place int, low double, high double")
    return join_ends((row["place"], row["low"], row["high"]) for row in frame.distinct().collect())


def end_batches(type: EventType, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the fields that the filters (encoded) of a batch constrain, with their outermost bounds."""
    for batch in batches:
        filters = [Filter.from_bytes(coded, type) for coded in batch["coded"].to_pylist()]
        used = sorted(
            {place for filter in filters for each in filter.conjunctions for place, _ in fields_of(each)}
        )
        rows: list[dict[str, Any]] = []
        for place in used:
            low, high = find_ends(type, place, filters) or (None, None)
            rows.append({"place": place, "low": low, "high": high})
        yield pa.RecordBatch.from_pylist(rows, _ENDS)


def join_ends(found: Iterable[tuple[int, float | None, float | None]]) -> dict[int, tuple[float, float]]:
    """Return the constrained fields of all batches with their least and greatest bounds (0 and 1 if none)."""
    ends: dict[int, tuple[float, float]] = {}
    used = set()
    for place, low, high in found:
        used.add(place)
        if low is not None and high is not None:
            least, most = ends.get(place, (low, high))
            ends[place] = (min(least, low), max(most, high))
    return {place: ends.get(place, (0.0, 1.0)) for place in sorted(used)}


def embed_batches(
    type: EventType, ends: Mapping[int, tuple[float, float]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield each filter (id, encoded) with its vector; filters that match no event belong to no group."""
    for batch in batches:
        filters = [Filter.from_bytes(coded, type) for coded in batch["coded"].to_pylist()]
        nonempty = batch.filter(pa.array([not filter.empty for filter in filters], pa.bool_()))
        rows = []
        for filter in filters:
            if not filter.empty:
                blocks = [embed(type, place, filter, span) for place, span in ends.items()]
                rows.append(np.concatenate(blocks).tolist() if blocks else [0.0])
        features = pa.array(rows, pa.list_(pa.float64()))
        yield pa.RecordBatch.from_arrays(
            [nonempty["id"], nonempty["coded"], features], ["id", "coded", "features"]
        )


def _weigh(rows: DataFrame, widths: list[int]) -> DataFrame:
    """Return the vectors with each field weighted by the root of its mean deviation, as in the papers."""
    from pyspark.sql import functions as f

    if not widths:
        return rows
    total = sum(widths)
    spread = rows.agg(*(f.stddev_pop(f.col("features")[n]).alias(f"c{n}") for n in range(total))).first()
    assert spread is not None
    weights = weigh_columns([spread[n] or 0.0 for n in range(total)], widths)
    scale = f.array(*(f.lit(weight) for weight in weights))
    return rows.withColumn("features", f.zip_with("features", scale, lambda value, weight: value * weight))


def weigh_columns(deviations: Sequence[float], widths: Sequence[int]) -> list[float]:
    """Return the weight of each column: the root of the mean deviation over the columns of its field."""
    weights: list[float] = []
    for block in np.split(np.array(deviations), np.cumsum(widths)[:-1]):
        weights += [float(np.sqrt(block.mean()))] * len(block)
    return weights


def _cover(labelled: DataFrame, type: EventType) -> DataFrame:
    """Return each group with its members and a filter that covers them."""
    chosen = labelled.select("id", "coded", "prediction")
    check = make_check(package_version())

    def work(group: pa.Table) -> pa.Table:  # of one argument: a second one would be the group's key
        check()
        return cover_group(type, group)

    return chosen.groupBy("prediction").applyInArrow(work, "members array<long>, coded binary")


def cover_group(type: EventType, group: pa.Table) -> pa.Table:
    """Return a group (id, encoded) as one row: its members in order and the filter that covers them."""
    rows = sorted(zip(group["id"].to_pylist(), group["coded"].to_pylist(), strict=True))
    distinct = dict.fromkeys(coded for _, coded in rows)
    cover = BoundedCover.of([Filter.from_bytes(coded, type) for coded in distinct])
    row = {"members": [id for id, _ in rows], "coded": cover.to_bytes()}
    return pa.Table.from_pylist([row], _COVERED)
