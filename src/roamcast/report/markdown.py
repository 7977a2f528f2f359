"""The result of a campaign as a documentation page, with its figures in a folder beside it."""

from __future__ import annotations

import json
from pathlib import Path

from roamcast.campaign.claims import Claim
from roamcast.report.drawings.communities import community_snapshots, save_communities
from roamcast.report.drawings.figures import FigurePanels
from roamcast.report.page.readings_page import count_runs, readings_markdown
from roamcast.report.page.verdicts import claims_of, sum_up
from roamcast.report.result import CampaignResult, JudgedClaim, warn


def write_markdown(result: CampaignResult, file: Path) -> None:
    """Write the page (with readings: claims under all of them), and its figures into a folder beside it."""
    if result.notes.get("readings"):
        file.write_text(readings_markdown(result), encoding="utf-8")
        return
    figures = file.with_suffix("")
    figures.mkdir(parents=True, exist_ok=True)
    for name in result.campaign.figures:
        FigurePanels(result, name).save(figures / f"{name}.svg")
        if shown := community_snapshots(result, name):
            save_communities(shown, figures / f"{name}-communities.svg")
    file.write_text(make_markdown(result, figures.name), encoding="utf-8")


def make_markdown(result: CampaignResult, figures: str) -> str:
    """Return the text of the page; `figures` is the folder of its figures."""
    campaign = result.campaign
    lines = [f"# {campaign.title}", ""]
    lines += [f"{campaign.paper}.", ""] if campaign.paper else []
    lines += [campaign.about, ""] if campaign.about else []
    if result.notes.get("quick"):
        lines += ["**Quick version**: few seeds and few points.", ""]
    counts = count_runs(result)
    runs = result.tables["runs"]
    cpu = sum(row["cpu"] or 0.0 for row in runs)
    lines += [
        f"- runs: {counts}; {len(campaign.seed_list)} seeds a point",
        f"- processor time of the runs: {cpu:,.0f} s",
        *(f"- {stage}: {took:,.1f} s" for stage, took in result.notes.get("seconds", {}).items()),
        f"- code: {', '.join(sorted({row['version'] for row in result.tables['plan']}))}",
        f"- again: `{result.notes['command']}`" if "command" in result.notes else "",
        "",
        "Written by the tool from the campaign's tables; numbers are means over seeds with 95 % intervals.",
        "A claim is held or not held if its whole interval says so, else undecided.",
        "",
    ]
    lines += _protocols(result)
    if campaign.claims:
        text = sum_up(result.claims) if result.claims else warn(result)
        lines += ["## Claims", "", text, ""]
        lines += _claims(result, claims_of(result, None))
    for name, figure in campaign.figures.items():
        lines += [f"## {figure.title}", "", f"![{figure.title}]({figures}/{name}.svg)", ""]
        if shown := community_snapshots(result, name):
            lines += [f"![communities on the map]({figures}/{name}-communities.svg)", ""]
            lines += [f"{'; '.join(each.describe() for each in shown)}, at {shown[0].moment:g} s.", ""]
        lines += _claims(result, claims_of(result, name))
    broken = [f"- {judged.name}: {line}" for judged in result.claims for line in judged.failed_checks]
    if broken:
        lines += ["## Where a claim did not hold", "", *broken, ""]
    if campaign.not_judged:
        rows = (f"| {each.says} | {each.section} | {each.because} |" for each in campaign.not_judged.values())
        lines += ["## Statements not judged", "", "| statement | section | reason |", "|---|---|---|"]
        lines += [*rows, ""]
    failures = result.failures()
    if failures:
        lines += ["## Failures", "", *(f"- `{run}`: {error}" for run, error in failures), ""]
    return "\n".join(lines).rstrip() + "\n"


def _protocols(result: CampaignResult) -> list[str]:
    """Return the table of labels with their protocols, if labels differ from the names of protocols."""
    variants = result.campaign.protocols
    if all(variant.profile is None and not variant.parameters for variant in variants.values()):
        return []
    lines = ["## Protocols", "", "| here | protocol | profile | parameters |", "|---|---|---|---|"]
    for label, variant in variants.items():
        given = ", ".join(f"`{key} = {json.dumps(value)}`" for key, value in variant.parameters.items())
        profile = variant.profile or "its defaults"
        lines.append(f"| {variant.title or label} | {variant.router or label} | {profile} | {given} |")
    return [*lines, ""]


def _claims(result: CampaignResult, claims: list[JudgedClaim]) -> list[str]:
    if not claims:
        return []
    paper = bool(result.campaign.paper) or any(judged.claim.paper for judged in claims)
    heads = ["claim", "section", *(["the paper"] if paper else []), "asked", "ours", "verdict"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for judged in claims:
        claim = judged.claim
        cells = (
            claim.says,
            ", ".join(part for part in (claim.section, claim.figure) if part),
            *([_paper_text(claim)] if paper else []),
            judged.bounds_text,
            judged.value_text,
            f"**{judged.verdict}** {judged.doubt_text}".strip(),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def _paper_text(claim: Claim) -> str:
    """Return the paper's number, or that the claim is not stated in the paper."""
    return {"paper": claim.paper, "implied": "(implied)", "ours": "(ours)"}[claim.source]
