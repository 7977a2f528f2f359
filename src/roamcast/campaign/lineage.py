"""The sources of each table of a campaign, and detection of stale tables.

The file of a table contains the digests of its sources: parts of the campaign, other tables and code. A table
is stale if one of its sources has changed or is stale itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

PARTS = {
    "asked": ("protocols", "sweeps", "seeds", "readings"),
    "claims": ("claims", "sweeps", "readings"),
    "measure": ("measure",),
}
"Keys of the campaign that form each part from which tables are computed."

DEFINITIONS = "definitions"
"The source that stands for the definitions of the metrics."

STATISTICS = "statistics"
"The source that stands for the code of summaries and verdicts."

SOURCES: dict[str, tuple[str, ...]] = {
    "plan": ("asked",),
    "points": ("asked",),
    "runs": ("plan",),
    "metrics": ("plan", "runs", "measure", DEFINITIONS),
    "summary": ("metrics", "points", STATISTICS),
    "differences": ("metrics", "points", STATISTICS),
    "checks": ("claims", "points", STATISTICS),
    "terms": ("claims", "points", STATISTICS),
    "verdicts": ("metrics", "checks", "terms", STATISTICS),
}
"Sources of each table: parts of the campaign, tables, the definitions of metrics, and code."

MEASURED = frozenset({"plan", "points", "runs", "metrics"})
"The tables from which all others can be computed."

OUTCOMES = {"runs": ("run", "status", "rows", "size")}
"Columns of a table that enter its digest; others, such as wall time, differ each time."

MADE_FROM = b"roamcast.made_from"
"Key of the sources' digests in the metadata of a Parquet file."


def digest_part(campaign: Mapping[str, Any], part: str) -> str:
    """Return a digest of one part of a campaign, given as in `campaign.json`."""
    return digest_rows([campaign.get(key) for key in PARTS[part]])


def digest_rows(rows: Any) -> str:
    """Return a digest of plain data."""
    return hashlib.blake2b(json.dumps(rows, sort_keys=True).encode(), digest_size=16).hexdigest()


def find_stale(
    made_from: Callable[[str], Mapping[str, str]], digest_now: Callable[[str], str]
) -> frozenset[str]:
    """Return the tables whose sources have changed.

    `made_from` returns the source digests stored in a table, `digest_now` the current digest of a source.
    """
    stale: set[str] = set()
    for table, sources in SOURCES.items():  # in order of computation
        stored = made_from(table)
        if any(source in stale or stored.get(source) != digest_now(source) for source in sources):
            stale.add(table)
    return frozenset(stale)
