"""Facts as tables: places, a log of commits, batches of runs, and who reads them.

`roamcast.lake(DIR)` opens the tables of a campaign's folder or URL:

    lake = roamcast.lake("out")
    lake.tables                       # their names
    lake.frame(spark, "deliveries")   # one as Spark's DataFrame
    lake.dataset("deliveries")        # or as Arrow's dataset
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from roamcast.lake.lake import Lake


class _Door(ModuleType):
    """The room itself, which opens a lake when it is called: a function of its name would be hidden by it."""

    def __call__(self, folder: str | Path) -> Lake:
        """The lake of a campaign's folder or URL."""
        from roamcast.lake.lake import open_lake

        return open_lake(folder)


sys.modules[__name__].__class__ = _Door
