"""The lake: facts of a campaign's runs as tables with a commit log, on a disk or in an object store.

`roamcast.lake(DIR)` opens the tables of a campaign's folder or URL:

    lake = roamcast.lake("out")
    lake.tables                       # the names of the tables
    lake.frame(spark, "deliveries")   # a table as a Spark DataFrame
    lake.dataset("deliveries")        # a table as an Arrow dataset
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from roamcast.lake.lake import Lake


class _CallableModule(ModuleType):
    """The class of this module object, which makes `roamcast.lake(DIR)` callable."""

    def __call__(self, folder: str | Path) -> Lake:
        """Open the lake of a campaign's folder or URL."""
        from roamcast.lake.lake import open_lake

        return open_lake(folder)


sys.modules[__name__].__class__ = _CallableModule
