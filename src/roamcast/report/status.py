"""The status of a campaign: which planned runs are done, during and after it."""

from __future__ import annotations

from typing import Any

import msgspec

from roamcast.lake.staging import TRACEBACK
from roamcast.results.results_folder import ResultsFolder

_OF_PLAN = ("run", "router", "seed", "duration", "nodes", "command")
_OF_MANIFEST = ("wall", "cpu", "memory", "rows")


class CampaignStatus:
    """The plan of a campaign compared with the committed runs; reads no facts."""

    def __init__(self, store: ResultsFolder) -> None:
        self.store = store
        store.check_layout()
        self.campaign, self.notes = store.read_campaign()
        self.plan: list[dict[str, Any]] = store.read_table("plan").to_pylist()
        self.survey = store.survey(row["run"] for row in self.plan)

    def record(self) -> dict[str, Any]:
        """Return the status for `--json`."""
        return {
            "title": self.campaign.title,
            "quick": bool(self.notes.get("quick")),
            "planned": len(self.plan),
            "done": len(self.survey.done),
            "staged": len(self.survey.staged),
            "failed": len(self.survey.failed),
            "missing": len(self.survey.missing),
            "damaged": self.survey.damaged,
            "running": self.store.holder(),
            "resume": self.notes.get("command"),
        }

    def describe(self) -> str:
        """Return the status as text."""
        now = self.record()
        staged = f" ({now['staged']} more to be committed)" if now["staged"] else ""
        lines = [
            f"{now['title']}{' (quick version)' if now['quick'] else ''}",
            f"{now['planned']} runs: {now['done']} done{staged}, {now['failed']} failed, "
            f"{now['missing']} missing",
            *(f"damaged: {run}: {what}" for run, what in self.survey.damaged.items()),
        ]
        if now["failed"]:
            lines.append(f"errors: roamcast campaign runs {self.store.folder} --failed")
        if now["running"] is not None:
            lines.append(f"running now, as process {now['running']}")
        elif self.survey.missing or self.survey.failed or self.survey.staged:
            lines.append(f"resume with: {now['resume'] or 'roamcast campaign run'}")
        return "\n".join(lines)

    def runs(self) -> list[dict[str, Any]]:
        """Return each planned run with its status."""
        rows = []
        for row in self.plan:
            run, known = row["run"], self.survey
            found = known.staged.get(run) or known.failed.get(run) or {}
            if run in known.done:
                found = msgspec.structs.asdict(known.done[run]) | {"status": "done"}
            record = {"status": found.get("status", "missing"), "error": found.get("error", "")}
            of_plan = {key: row[key] for key in _OF_PLAN}
            file = self.store.staging.run_folder(row["run"]) / TRACEBACK
            record["traceback"] = str(file) if record["status"] == "failed" and file.exists() else ""
            rows.append(of_plan | record | {key: found.get(key) for key in _OF_MANIFEST})
        return rows
