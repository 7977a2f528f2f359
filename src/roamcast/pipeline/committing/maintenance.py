"""Maintenance of a lake: verification of files, and removal of runs that are not planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.committing.damage import find_damaged
from roamcast.pipeline.spark.spread import spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class VerifyResult(msgspec.Struct, frozen=True):
    """The result of a comparison of all files with their digests."""

    runs: int
    files: int
    bytes: int
    damaged: dict[str, str]
    "Problems of damaged files, by file."
    lost: dict[str, str] = {}
    "Problems of the runs that were removed, by run."


class PruneResult(msgspec.Struct, frozen=True):
    """The number of removed runs and files."""

    runs: int
    "Runs that are not planned."
    files: int
    "Files that are not valid."


def verify(store: CampaignFolder, spark: SparkSession | None = None, *, repair: bool = False) -> VerifyResult:
    """Compare every committed file with the digest that was taken when it was written.

    With `repair`, runs with damaged rows are removed from the lake; the next `campaign run` repeats them.
    """
    snapshot = store.snapshot()
    batches = list(snapshot.batches.values())
    facts = str(store.facts)
    told = spread(spark, "verifying facts", batches, lambda batch: find_damaged(StorageUrl(facts), batch))
    damaged = {f"{table}/{name}.parquet": what for found in told for (table, name), what in found.items()}
    lost: dict[str, str] = {}
    if repair:
        hurt = [batch.name for batch, found in zip(batches, told, strict=True) if found]
        lost = Committer(spark, store).repair(hurt, surely=True)
        store.tidy()
    return VerifyResult(
        runs=len(snapshot.runs()),
        files=sum(len(batch.files) for batch in batches),
        bytes=sum(batch.size for batch in batches),
        damaged=damaged,
        lost=lost,
    )


def prune(store: CampaignFolder, spark: SparkSession | None = None) -> PruneResult:
    """Remove runs that the campaign does not plan, also staged ones, and files that are not valid."""
    planned = set(store.read_table("plan")["run"].to_pylist())
    staged = [run for run in store.staging.survey() if run not in planned]
    for run in staged:
        store.staging.remove(run)
    useless = frozenset(store.snapshot().runs().keys() - planned)
    Committer(spark, store).drop(useless)
    return PruneResult(runs=len(useless) + len(staged), files=store.tidy())
