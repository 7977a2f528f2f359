"""The answer of a comparison, the state of its runs, and the causes of its losses, as JSON values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from roamcast.campaign.campaign import Campaign
from roamcast.errors import UserError
from roamcast.facts.pack import PACK, unpack
from roamcast.facts.schema import TABLES
from roamcast.facts.tables import Facts, RunManifest
from roamcast.lake.reading import read_facts, read_run
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.report.comparing.goals import SHOWN
from roamcast.report.json_result import to_record
from roamcast.report.numbers import FEW, format_estimate
from roamcast.report.page.verdicts import sum_up
from roamcast.report.ranking import SIDE_BY_SIDE
from roamcast.report.result import CampaignResult, warn
from roamcast.report.status import CampaignStatus
from roamcast.results.errors import CampaignFolderError
from roamcast.results.results_folder import ResultsFolder

_LIVE = ("delivery_rate", "delay_mean")
"Metrics that are shown of each run while others still run."

_measured: dict[tuple[str, str], dict[str, Any]] = {}
"Metrics of runs by folder and run; a run never changes."


def summarise(folders: list[str]) -> list[dict[str, Any]]:
    """Return title, state, command and question of each result, for the history."""
    found: list[dict[str, Any]] = []
    for folder in folders:
        try:
            campaign, notes = ResultsFolder(folder).read_campaign()
        except (UserError, ValueError, LookupError, TypeError, AttributeError) as error:  # of other origin
            found.append({"id": folder, "problem": _brief(error)})
            continue
        record: dict[str, Any] = {
            "id": folder,
            "title": campaign.title,
            "command": str(notes.get("command") or ""),
            "question": _question(campaign, notes),
            "seeds": len(campaign.seed_list),
            "protocols": _list_protocols(campaign),
            "answer": "",
            "finished": "seconds" in notes,
            "time": (Path(folder) / "campaign.json").stat().st_mtime,
        }
        if record["finished"]:
            record["answer"] = _headline(folder)
        found.append(record)
    return found


def _question(campaign: Campaign, notes: dict[str, Any]) -> Any:
    """Return the question of a result, with the goal and the deadline where the campaign has them."""
    question = notes.get("question")
    if not isinstance(question, dict):
        return None
    goal, deadline = getattr(campaign, "goal", None), getattr(campaign.measure, "deadline", None)
    return question | {"goal": goal, "deadline": None if deadline is None else f"{deadline:g} s"}


def _brief(error: Exception) -> str:
    text = str(error) if isinstance(error, UserError) else "campaign.json is not that of a campaign"
    return text.splitlines()[0][:300]


def _headline(folder: str) -> str:
    try:
        record = to_record(CampaignResult(ResultsFolder(folder)), "")
        points = record["points"]
        return str(points[0]["answer"]["sentences"][0]) if len(points) == 1 else ""
    except (UserError, LookupError, ValueError):
        return ""


def read_cells(folder: str) -> list[dict[str, Any]]:
    """Return the state of each planned run, with its delivery rate and delay as soon as it is done."""
    store = ResultsFolder(folder)
    try:
        status = CampaignStatus(store)
        points = store.read_table("points").to_pylist()
    except CampaignFolderError:
        return []
    runs = {row["run"]: row for row in status.runs()}
    cells = []
    for row in points:
        run = runs.get(row["run"], {"status": "missing", "error": ""})
        cell = {"protocol": row["protocol"], "seed": row["seed"], "run": row["run"], "status": run["status"]}
        if run["status"] == "done":
            cell |= _measure(store, folder, row["run"])
        elif run["status"] == "failed":
            cell["error"] = run["error"]
        cells.append(cell)
    return cells


def _measure(store: ResultsFolder, folder: str, run: str) -> dict[str, Any]:
    if (folder, run) not in _measured:
        try:
            facts = _read_staged(Path(str(store.staging.run_folder(run))))
            _measured[folder, run] = evaluate(metric_input(facts or read_run(folder, run)), _LIVE)
        except (UserError, OSError, ValueError):  # it moves to the lake just now; the next look finds it
            return {}
    return _measured[folder, run]


def _read_staged(folder: Path) -> Facts | None:
    """Return the facts of a run that is not yet committed; None if it is."""
    if (folder / PACK).is_file():
        packed = unpack((folder / PACK).read_bytes())
        tables = {name: packed.tables.get(name, schema.empty_table()) for name, schema in TABLES.items()}
        whole = {name: table.cast(TABLES[name]) for name, table in tables.items()}
        return Facts(msgspec.json.decode(packed.about, type=RunManifest), whole)
    return Facts.read(folder) if (folder / "run.json").is_file() else None


def _list_protocols(campaign: Campaign) -> list[str]:
    """Return the protocols of a campaign in the order of its file."""
    return list(dict.fromkeys(label for sweep in campaign.sweeps.values() for label in sweep.protocols))


def read_answer(folder: str) -> dict[str, Any]:
    """Return everything that the page of a result shows at once."""
    store = ResultsFolder(folder)
    status = CampaignStatus(store)
    record: dict[str, Any] = {"status": status.record(), "command": str(status.notes.get("command") or "")}
    record["question"] = _question(status.campaign, status.notes)
    record["seeds"] = status.campaign.seed_list
    points = store.read_table("points").to_pylist()
    record["protocols"] = _list_protocols(status.campaign)
    record["points"] = len({(row["sweep"], row["point"]) for row in points})
    record["report"] = (store.folder / "report.html").exists()
    record["tables"] = [name for name in _TABLES if store.table_file(name).exists()]
    record["record"] = None
    try:
        result = CampaignResult(store)
    except CampaignFolderError:
        return record
    record["stale"] = warn(result) if result.stale else ""
    record["record"] = to_record(result, "")
    for point in record["record"]["points"]:
        point["texts"] = {
            protocol: {
                name: format_estimate(value) for name, value in metrics.items() if name in SIDE_BY_SIDE
            }
            for protocol, metrics in point["protocols"].items()
        }
    record["verdicts"] = _list_verdicts(result)
    record["few"] = len(status.campaign.seed_list) < FEW
    record["metrics"] = [_describe_metric(name) for name in _shown(result)]
    record["by_seed"] = _by_seed(result, _shown(result))
    return record


def _list_verdicts(result: CampaignResult) -> dict[str, Any] | None:
    """Return a summary of the verdicts and each of them; None without claims, or if readings are compared."""
    if not result.campaign.claims or result.notes.get("readings"):
        return None
    claims = [
        {
            "says": judged.claim.says,
            "section": judged.claim.section,
            "paper": judged.claim.paper,
            "bounds": judged.bounds_text,
            "ours": judged.value_text,
            "verdict": judged.verdict_text,
            "mark": judged.verdict.replace(" ", "-"),
        }
        for judged in result.claims
    ]
    return {"summary": sum_up(result.claims), "claims": claims}


_TABLES = ("plan", "points", "runs", "metrics", "summary", "differences", "verdicts")


def _shown(result: CampaignResult) -> list[str]:
    known = {metric for *_, metric in result.values}
    return [name for name in SIDE_BY_SIDE if name in known]


def _describe_metric(name: str) -> dict[str, str]:
    metric = SHOWN[name]
    about = {"title": metric.title, "unit": metric.unit, "better": metric.better, "scale": metric.scale}
    return {"name": name, "meaning": metric.meaning, **about}


def _by_seed(result: CampaignResult, metrics: list[str]) -> list[dict[str, Any]]:
    measured = {row["run"]: row for row in result.tables["metrics"]}
    rows = []
    for row in sorted(result.tables["points"], key=lambda row: (row["seed"], row["protocol"])):
        values = measured.get(row["run"])
        if values is not None:
            about = {key: row[key] for key in ("run", "protocol", "seed", "sweep", "point")}
            at = (row["sweep"], row["point"], row["protocol"])
            rows.append(about | {name: result.by_seed(*at, name).get(row["seed"]) for name in metrics})
    return rows


def count_causes(folder: str, run: str) -> dict[str, Any]:
    """Return the causes of the losses of one run, with an example of each."""
    from roamcast.why.presentation.tally import tally

    facts = read_run(folder, run)
    return {"seed": facts.run.seed, "warmup": facts.run.warmup} | tally(facts).record()


def explain(folder: str, run: str, event: str, node: int) -> dict[str, Any]:
    """Return the explanation of one event at one node, or of a request if `event` has the form R9/3."""
    from roamcast.why.presentation.explanation import explain_event, explain_request
    from roamcast.why.presentation.names import read_publication, read_request

    facts = read_facts(f"{folder}/run={run}")
    if event.startswith("R"):
        explained = explain_request(facts, read_request(event[1:]))
    else:
        explained = explain_event(facts, read_publication(event), node)
    answer: dict[str, Any] = msgspec.to_builtins(explained)
    return answer
