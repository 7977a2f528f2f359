"""The result of a campaign as plain values for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from roamcast.campaign.plan import point_text
from roamcast.report.answer import answer
from roamcast.report.readings import ClaimReadings, judge_readings
from roamcast.report.result import CampaignResult, JudgedClaim

_OF_VALUE = ("count", "mean", "half", "lower", "upper", "least", "most")
_OF_CHECK = (
    *("tells", "low", "high", "strict", "ours", "half", "lower", "upper", "least", "most"),
    *("count", "inside", "verdict"),
)


def to_record(result: CampaignResult, report: object) -> dict[str, Any]:
    """Return all results of a campaign that a program may need without reading its tables."""
    found: dict[str, Any] = {
        "title": result.campaign.title,
        "quick": bool(result.notes.get("quick")),
        "seeds": result.campaign.seed_list,
        "runs": result.counts(),
        "failures": [{"run": run, "error": error} for run, error in result.failures()],
        "seconds": result.notes.get("seconds", {}),
        "folder": str(result.store.folder),
        "report": str(report),
        "points": _points(result),
    }
    if result.so_far is not None:
        found["so_far"] = {"measured": result.so_far, "planned": len(result.tables["plan"])}
    if result.notes.get("readings"):
        found["readings"] = [_reread(each) for each in judge_readings(result)]
    elif result.campaign.claims:
        found["claims"] = [_claim(judged) for judged in result.claims]
    return found


def _points(result: CampaignResult) -> list[dict[str, Any]]:
    """Return the metrics of each protocol at each point over seeds, with the answer if protocols compete."""
    values: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for (sweep, point, protocol, metric), row in result.values.items():
        metrics = values.setdefault((sweep, point), {}).setdefault(protocol, {})
        metrics[metric] = {key: row.get(key) for key in _OF_VALUE}
    found = []
    for name, asked in result.campaign.sweeps.items():
        for settings in asked.expand():
            place = (name, point_text(settings))
            record = answer(result, place, asked.protocols)
            found.append(
                {
                    "sweep": name,
                    "settings": asked.set | settings,
                    "answer": asdict(record),
                    "protocols": values.get(place, {}),
                }
            )
    return found


def _claim(judged: JudgedClaim) -> dict[str, Any]:
    claim = judged.claim
    said = {key: getattr(claim, key) for key in ("says", "section", "figure", "paper", "kind", "metric")}
    checks = [{key: check[key] for key in _OF_CHECK} for check in judged.checks]
    return {"name": judged.name, **said, "verdict": judged.verdict, "checks": checks}


def _reread(each: ClaimReadings) -> dict[str, Any]:
    under = [
        {"reading": row, "verdict": judged.verdict, "numbers": numbers}
        for row, judged, numbers in zip(each.combinations, each.judged, each.numbers, strict=True)
    ]
    record = {"held": each.answer, "decided_by": each.decided_by, "deciding": each.deciding}
    return {"name": each.name, "says": each.claim.says, **record, "under": under}
