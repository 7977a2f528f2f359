"""Writes docs/tables.md, columns of facts and of the pipeline: `python -m roamcast.pipeline.reference`."""

from __future__ import annotations

import pyarrow as pa

from roamcast.campaign.tables import TABLES
from roamcast.lake.columns import TABLES as FACTS

_ABOUT_FACTS = {
    "expectations": "With `roamcast run --count-expectations`, one row for each event has the node -n"
    " for the n nodes\nthat expected it, followed by rows of those among them that got it.",
}

_ABOUT = {
    "plan": "One row for each run that the campaign plans.",
    "points": "Where each run belongs; a run may serve several sweeps.",
    "runs": "What became of each run.",
    "metrics": "One row of metrics for each run that is done.",
    "lineage": "Which code simulated and measured the run of each row of `metrics`.",
    "summary": "Each metric at each point, over seeds.",
    "differences": "Each metric at each point, between two protocols on common seeds.",
    "terms": "Which value of which run counts how much in which check of a claim.",
    "checks": "What must hold for a claim to hold.",
    "verdicts": "Each check with our number, its interval and the verdict.",
    "quality": "Data-quality checks, written by `roamcast lake check`.",
}


def document() -> str:
    """`docs/tables.md`."""
    lines = [
        "# Tables",
        "",
        "Written by `python -m roamcast.pipeline.reference` from the schemas in the code; do not edit.",
        "",
        "## Facts: what happened in runs",
        "",
        "In a campaign's folder each table is a Delta table, `facts/TABLE`, for any reader of Delta Lake;",
        "`facts/runs` has a row for each run that counts. In a folder that `roamcast run --facts` writes,",
        "a table is the Parquet file `TABLE.parquet`, without the column `run`.",
        "",
    ]
    for name, schema in FACTS.items():
        lines += _section(name, _ABOUT_FACTS.get(name, ""), schema)
    lines += ["## The pipeline: plan to verdict", "", "Parquet files `tables/TABLE.parquet`.", ""]
    for name, schema in TABLES.items():
        lines += _section(name, _ABOUT[name], schema)
    return "\n".join(lines).rstrip() + "\n"


def _section(name: str, about: str, schema: pa.Schema) -> list[str]:
    lines = [f"### {name}", ""] + ([about, ""] if about else [])
    lines += ["| column | type | unit | meaning |", "|---|---|---|---|"]
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        metadata = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
        meaning = metadata["meaning"].replace("|", "\\|")
        lines.append(f"| `{field.name}` | {kind} | {metadata['unit']} | {meaning} |")
    return [*lines, ""]


if __name__ == "__main__":
    print(document(), end="")
