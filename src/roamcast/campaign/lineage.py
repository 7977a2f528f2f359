"""What each table of a campaign was made from, so that none is read beside what it does not belong to.

A table carries, in its file, the digest of everything that it was made from: parts of the campaign as it was
asked, and other tables. It is stale when one of them is no longer the same, or is stale itself.
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
"Parts of a campaign that tables are made from, by name."

DEFINITIONS = "definitions"
"Of the metrics: what each of them computes."

STATISTICS = "statistics"
"The code that sums up over seeds and judges."

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
"What each table is made from: parts of the campaign, tables, the definitions of metrics, and code."

MEASURED = frozenset({"plan", "points", "runs", "metrics"})
"The tables that all others can be made from."

OUTCOMES = {"runs": ("run", "status", "rows", "size")}
"The columns that count of a table with others that are new each time, as the time that a run took."

MADE_FROM = b"roamcast.made_from"
"The key in a Parquet file's metadata."


def digest_part(campaign: Mapping[str, Any], part: str) -> str:
    """A digest of one part of a campaign, as `campaign.json` writes it."""
    return digest_rows([campaign.get(key) for key in PARTS[part]])


def digest_rows(rows: Any) -> str:
    """A digest of plain data."""
    return hashlib.blake2b(json.dumps(rows, sort_keys=True).encode(), digest_size=16).hexdigest()


def find_stale(
    made_from: Callable[[str], Mapping[str, str]], digest_now: Callable[[str], str]
) -> frozenset[str]:
    """The tables that were made from something else than what is there now.

    `made_from` tells the digests that a table carries, `digest_now` the digest of a source today.
    """
    stale: set[str] = set()
    for table, sources in SOURCES.items():  # in the order in which they are made
        told = made_from(table)
        if any(source in stale or told.get(source) != digest_now(source) for source in sources):
            stale.add(table)
    return frozenset(stale)
