"""The section of claims: each claim with its bounds, our values and the verdict."""

from __future__ import annotations

from collections import Counter
from html import escape

from roamcast.campaign.claims import Claim
from roamcast.campaign.tables import HELD, NOT_HELD, NOT_JUDGED, UNDECIDED
from roamcast.report.numbers import FEW, format_estimate
from roamcast.report.result import CampaignResult, JudgedClaim

_WORDS = {
    "ordering": "each step: the difference from one protocol to the next, in the order claimed",
    "trend": "climb: of the least-squares line from one end of the axis to the other, as a share of the mean",
    "crossing": "crossing: where the least-squares line through the differences of two protocols is zero",
}


def claims_of(result: CampaignResult, figure: str | None) -> list[JudgedClaim]:
    """Return the claims of a figure: those that name it or use its sweep; with None, those of no figure."""
    return [judged for judged in result.claims if _figure_of(result, judged.claim) == figure]


def _figure_of(result: CampaignResult, claim: Claim) -> str | None:
    figures = result.campaign.figures
    named = claim.figure.strip().lower().replace(" ", "-")
    if named in figures:
        return named
    return next((name for name, figure in figures.items() if figure.sweep == claim.sweep), None)


def make_claims(result: CampaignResult, claims: list[JudgedClaim]) -> str:
    """Return a table of claims; empty if there are none."""
    if not claims:
        return ""
    kinds = {judged.claim.kind for judged in claims}
    words = "".join(f" {_WORDS[kind].capitalize()}." for kind in _WORDS if kind in kinds)
    paper = bool(result.campaign.paper) or any(judged.claim.paper for judged in claims)
    rows = "".join(_row(judged, paper) for judged in claims)
    of_paper = "<th>The paper</th>" if paper else ""
    return (
        f"<table class='claims'><thead><tr><th>Claim</th>{of_paper}"
        f"<th>Bounds</th><th>Ours</th><th>Verdict</th></tr></thead><tbody>{rows}</tbody></table>"
        f"<p class='small'>{escape(words.strip())}</p>"
    )


def sum_up(claims: list[JudgedClaim]) -> str:
    """Return how many claims hold, do not hold, are undecided or not judged; the paper's own claims first."""
    own = [judged for judged in claims if judged.claim.source == "paper"]
    further = [judged for judged in claims if judged.claim.source != "paper"]
    begin = "So far " if any(judged.so_far for judged in claims) else ""
    if own and further:
        text = f"{begin}{_tally(own, 'claims of the paper')}. Implied claims and our own: {_tally(further)}."
    else:
        text = f"{begin}{_tally(claims, 'claims')}."
    if any(judged.verdict == UNDECIDED for judged in claims):
        text += " Undecided: an interval reaches across the bound; more seeds may decide."
    if any(judged.doubt_text for judged in claims):
        text += f" Fewer than {FEW} seeds decide little."
    return text


def _tally(claims: list[JudgedClaim], noun: str = "") -> str:
    tally = Counter(judged.verdict for judged in claims)
    text = f"{tally[HELD]} of {len(claims)}{' ' * bool(noun)}{noun} held, {tally[NOT_HELD]} did not"
    if tally[UNDECIDED]:
        text += f", {tally[UNDECIDED]} {'is' if tally[UNDECIDED] == 1 else 'are'} undecided"
    if tally[NOT_JUDGED]:
        text += f", {tally[NOT_JUDGED]} could not be judged"
    return text


def _row(judged: JudgedClaim, paper: bool) -> str:
    claim = judged.claim
    where = ", ".join(
        part for part in (f"section {claim.section}" if claim.section else "", claim.figure) if part
    )
    mark = judged.verdict.replace(" ", "-")
    of_paper = f'<td data-label="Paper">{escape(claim.paper or "-")}</td>' if paper else ""
    return (
        f'<tr class="{mark}"><td data-label="Claim">{escape(claim.says)}'
        f'<span class="where">{escape(where)}</span></td>{of_paper}'
        f'<td data-label="Bounds">{escape(judged.bounds_text)}</td>'
        f'<td data-label="Ours">{escape(judged.value_text)}{_checks(judged)}</td>'
        f'<td data-label="Verdict"><strong>{judged.verdict_text}</strong> {judged.doubt_text}</td></tr>'
    )


def _checks(judged: JudgedClaim) -> str:
    """Return each check with its value and verdict, if there are several or the only one failed."""
    if len(judged.checks) < 2 and not judged.failed_checks:
        return ""
    rows = "".join(
        f"<li>{escape(check['tells'])}: {escape(format_estimate(check, 'ours'))} "
        f"<strong>{check['verdict']}</strong></li>"
        for check in judged.checks
    )
    title = "each check" if len(judged.checks) > 1 else "where"
    return f"<details><summary>{title}</summary><ul>{rows}</ul></details>"
