"""Claims under all readings, as a documentation page and as a section of the report."""

from __future__ import annotations

import json
from html import escape

from roamcast.campaign.tables import HELD
from roamcast.report.readings import ClaimReadings, describe_combination, judge_readings
from roamcast.report.result import CampaignResult

_MARKS = (
    "+ held, - not held, ? not judged; (+) and (-) undecided, our number lying within or beyond the bounds."
)


def count_runs(result: CampaignResult) -> str:
    """Return the number of runs with each status; of the planned ones while none is committed."""
    counts = ", ".join(f"{count} {status}" for status, count in sorted(result.counts().items()))
    return counts or f"0 of {len(result.tables['plan'])} done"


def readings_markdown(result: CampaignResult) -> str:
    """Return the documentation page of a campaign that was judged under its readings."""
    campaign = result.campaign
    judged_claims = judge_readings(result)
    versions = sorted({row["version"] for row in result.tables["plan"]})
    lines = [
        f"# What a reading decides: {campaign.title}",
        "",
        *([f"{campaign.paper}.", ""] if campaign.paper else []),
        "The paper leaves choices open. Here every claim is judged under each of their combinations, or",
        "under some that hold every choice alone and every pair of choices. No reading is chosen because",
        "it makes a claim hold: the defaults come from the text.",
        "",
        f"- runs: {count_runs(result)}",
        f"- seeds at each point: {', '.join(map(str, campaign.seed_list))}"
        + (" (one: no intervals, so every verdict is undecided)" if len(campaign.seed_list) == 1 else ""),
        *(
            [f"- values kept on each axis: {campaign.design.points}, ends included"]
            if campaign.design.points
            else []
        ),
        *(f"- everywhere: `{key} = {json.dumps(value)}`" for key, value in campaign.design.set.items()),
        f"- code: {', '.join(versions)}",
        *([f"- again: `{result.notes['command']}`"] if "command" in result.notes else []),
        "",
        "Written by the tool from the campaign's tables.",
        "",
        "## What is left open",
        "",
        _row("choice", "section", "what is open", "alternatives", "the default, and why"),
        _row(*["---"] * 5),
    ]
    for name, reading in campaign.readings.items():
        ways = "; ".join(
            f"**{key}**: {alternative.says}" if alternative.says else f"**{key}**"
            for key, alternative in reading.alternatives.items()
        )
        why = f"{reading.default}. {reading.because}" if reading.because else reading.default
        lines.append(_row(name, reading.section, reading.open, ways, why))
    rows = judged_claims[0].combinations if judged_claims else []
    lines += ["", "## The combinations judged", "", _row("", "what is not the default"), _row("---", "---")]
    lines += [_row(str(n), describe_combination(campaign.readings, row)) for n, row in enumerate(rows)]
    lines += ["", "## Claims", "", f"{_sum_up(judged_claims)} {_MARKS}", ""]
    numbers = [str(n) for n in range(len(rows))]
    lines += [_row("claim", "section", "the paper", "held", "decided by", *numbers)]
    lines += [_row(*["---"] * (5 + len(rows)))]
    for each in judged_claims:
        claim = each.claim
        place = ", ".join(part for part in (claim.section, claim.figure) if part)
        lines.append(_row(claim.says, place, claim.paper, each.answer, each.decided_by, *each.marks))
    lines += ["", "## Numbers", "", "The least and the most where a claim has several checks.", ""]
    lines += [_row("claim", "asked", *numbers), _row(*["---"] * (2 + len(rows)))]
    lines += [_row(each.name, each.judged[0].bounds_text, *each.numbers) for each in judged_claims]
    return "\n".join(lines).rstrip() + "\n"


def make_readings(result: CampaignResult) -> str:
    """Return claims under all readings as a section of the report."""
    judged_claims = judge_readings(result)
    rows = judged_claims[0].combinations if judged_claims else []
    listed = "".join(
        f"<li value='{n}'>{escape(describe_combination(result.campaign.readings, row))}</li>"
        for n, row in enumerate(rows)
    )
    head = "".join(f"<th>{n}</th>" for n in range(len(rows)))
    body = "".join(
        f'<tr><td data-label="Claim">{escape(each.claim.says)}'
        f'<span class="where">{escape(each.claim.section)}</span></td>'
        f'<td data-label="Held">{escape(each.answer)}</td>'
        f'<td data-label="Decided by">{escape(each.decided_by)}</td>'
        + "".join(f"<td>{mark}</td>" for mark in each.marks)
        + "</tr>"
        for each in judged_claims
    )
    return (
        f"<section><h2>Claims under all readings</h2><p class='verdict'>{escape(_sum_up(judged_claims))}</p>"
        f"<ol start='0'>{listed}</ol><div class='wide'><table><thead><tr><th>Claim</th><th>Held</th>"
        f"<th>Decided by</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"<p class='small'>{escape(_MARKS)}</p></section>"
    )


def _sum_up(judged_claims: list[ClaimReadings]) -> str:
    """Return a sentence with the number of claims that no reading decides."""
    verdicts = [{judged.verdict for judged in each.judged} for each in judged_claims]
    always = sum(found == {HELD} for found in verdicts)
    never = sum(HELD not in found for found in verdicts)
    rest = len(judged_claims) - always - never
    count = len(judged_claims)
    return f"Of {count} claims {always} hold under all readings, {never} under none, {rest} under some."


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
