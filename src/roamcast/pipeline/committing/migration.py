"""Migration of a lake of format 2: rows get the cells of their runs, files another order and an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamcast.campaign.plan import PlannedCell
from roamcast.lake.delta import FORMAT
from roamcast.lake.snapshot import LakeError
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.pipeline.committing.commit import Committer
from roamcast.pipeline.committing.run_cells import find_cells

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def migrate(store: CampaignFolder, spark: SparkSession | None = None) -> int:
    """Rewrite the batches of an older format; return the number of runs, 0 if the format is the present one.

    The caller holds the campaign's lock. An interrupted migration continues where it was.
    """
    store.check_layout()
    if (found := store.log.format()) in ("", FORMAT):
        if not found:
            raise LakeError(f"{store.folder}: has no facts to migrate")
        return 0
    campaign, _ = store.read_campaign()
    store.log.create(migrating=True)
    cells = find_cells(campaign.title, (PlannedCell(**row) for row in store.read_table("points").to_pylist()))
    Committer(spark, store, cells).relabel()
    store.tidy()
    store.log.set_format()
    return len(store.snapshot().runs())
