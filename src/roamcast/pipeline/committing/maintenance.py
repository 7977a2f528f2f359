"""Maintenance of a lake: verification of files, and removal of runs that are not planned."""

from __future__ import annotations

import re
from time import time
from typing import TYPE_CHECKING

import msgspec

from roamcast.lake.storage import StorageUrl
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.committing.damage import find_damaged
from roamcast.pipeline.spark.spread import spread
from roamcast.results.errors import CampaignFolderError

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
    problems = spread(spark, "verifying facts", batches, lambda batch: find_damaged(StorageUrl(facts), batch))
    damaged = {f"{table}/{name}.parquet": what for found in problems for (table, name), what in found.items()}
    lost: dict[str, str] = {}
    if repair:
        damaged_batches = [batch.name for batch, found in zip(batches, problems, strict=True) if found]
        lost = Committer(spark, store).repair(damaged_batches, surely=True)
        store.tidy()
    return VerifyResult(
        runs=len(snapshot.runs()),
        files=sum(len(batch.files) for batch in batches),
        bytes=sum(batch.size for batch in batches),
        damaged=damaged,
        lost=lost,
    )


class RetentionResult(msgspec.Struct, frozen=True):
    """The runs that a retention period removes."""

    runs: list[str]
    "Runs committed before the period."
    bytes: int
    "Size of the facts of these runs as they were staged [B]."
    kept: int
    removed: bool
    "Whether they were removed; False in a dry run."


def prune_older(
    store: CampaignFolder, seconds: float, spark: SparkSession | None = None, *, remove: bool = False
) -> RetentionResult:
    """Find the runs that were committed more than `seconds` ago; with `remove`, remove their facts.

    Runs whose time of commit is unknown are kept. The tables that were computed from the runs stay.
    """
    known = store.snapshot().runs()
    before = time() - seconds
    old = {run: done for run, done in known.items() if done.committed is not None and done.committed < before}
    if remove and old:
        Committer(spark, store).drop(frozenset(old))
        store.tidy()
    size = sum(done.size for done in old.values())
    return RetentionResult(sorted(old), size, len(known) - len(old), remove)


def prune(store: CampaignFolder, spark: SparkSession | None = None) -> PruneResult:
    """Remove runs that the campaign does not plan, also staged ones, and files that are not valid."""
    planned = set(store.read_table("plan")["run"].to_pylist())
    staged = [run for run in store.staging.survey() if run not in planned]
    for run in staged:
        store.staging.remove(run)
    useless = frozenset(store.snapshot().runs().keys() - planned)
    Committer(spark, store).drop(useless)
    return PruneResult(runs=len(useless) + len(staged), files=store.tidy())


_AGES = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def parse_age(text: str) -> float:
    """Return an age such as `30d`, `12 h` or `2w` [s]; raise `CampaignFolderError` if it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(s|min|h|d|w)", text.strip())
    if found is None:
        raise CampaignFolderError(f"--older-than {text!r}: expected an age such as 30d, 12h or 2w")
    return float(found[1]) * _AGES[found[2]]
