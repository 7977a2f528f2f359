"""Claims as a part of the page: what was claimed, what we asked, our numbers, held or not held."""

from __future__ import annotations

from html import escape

from roamcast.campaign.claims import Claim
from roamcast.report.result import Judged, Result
from roamcast.report.rounding import tell

_WORDS = {
    "ordering": "each step: the difference from one protocol to the next, in the order claimed",
    "trend": "climb: of the least-squares line from one end of the axis to the other, as a share of the mean",
    "crossing": "crossing: where the least-squares line through the differences of two protocols is zero",
}


def claims_of(result: Result, figure: str | None) -> list[Judged]:
    """The claims that belong to a figure: it is named in them or drawn of their sweep; None: to no figure."""
    return [judged for judged in result.claims if _figure_of(result, judged.claim) == figure]


def _figure_of(result: Result, claim: Claim) -> str | None:
    figures = result.campaign.figures
    named = claim.figure.strip().lower().replace(" ", "-")
    if named in figures:
        return named
    return next((name for name, figure in figures.items() if figure.sweep == claim.sweep), None)


def make_claims(result: Result, claims: list[Judged]) -> str:
    """A table of claims; nothing if there are none."""
    if not claims:
        return ""
    kinds = {judged.claim.kind for judged in claims}
    words = "".join(f" {_WORDS[kind].capitalize()}." for kind in _WORDS if kind in kinds)
    paper = bool(result.campaign.paper) or any(judged.claim.paper for judged in claims)
    rows = "".join(_row(judged, paper) for judged in claims)
    of_paper = "<th>The paper</th>" if paper else ""
    return (
        f"<table class='claims'><thead><tr><th>Claim</th>{of_paper}"
        f"<th>Asked</th><th>Ours</th><th>Verdict</th></tr></thead><tbody>{rows}</tbody></table>"
        f"<p class='small'>{escape(words.strip())}</p>"
    )


def sum_up(claims: list[Judged]) -> str:
    """How many claims held, in a sentence, and how many verdicts the intervals leave open."""
    tally = {v: sum(judged.verdict == v for judged in claims) for v in ("held", "not held", "not judged")}
    begin = "So far " if any(judged.so_far for judged in claims) else ""
    told = f"{begin}{tally['held']} of {len(claims)} claims held, {tally['not held']} did not"
    if tally["not judged"]:
        told += f", {tally['not judged']} could not be judged"
    doubts = [judged.doubt for judged in claims if judged.doubt]
    few = sum(doubt == "(few seeds)" for doubt in doubts)
    if few:
        return f"{told}, with too few seeds to be sure of any."
    more = f" {len(doubts)} of these verdicts are within the interval: more seeds might decide otherwise."
    return f"{told}.{more if doubts else ''}"


def _row(judged: Judged, paper: bool) -> str:
    claim = judged.claim
    where = ", ".join(
        part for part in (f"section {claim.section}" if claim.section else "", claim.figure) if part
    )
    mark = judged.verdict.replace(" ", "-")
    of_paper = f'<td data-label="Paper">{escape(claim.paper or "-")}</td>' if paper else ""
    return (
        f'<tr class="{mark}"><td data-label="Claim">{escape(claim.says)}'
        f'<span class="where">{escape(where)}</span></td>{of_paper}'
        f'<td data-label="Asked">{escape(judged.asked)}</td>'
        f'<td data-label="Ours">{escape(judged.ours)}{_checks(judged)}</td>'
        f'<td data-label="Verdict"><strong>{judged.told}</strong> {judged.doubt}</td></tr>'
    )


def _checks(judged: Judged) -> str:
    """Each check with its number, where there are several or where the only one failed."""
    if len(judged.checks) < 2 and not judged.broken:
        return ""
    rows = "".join(
        f"<li>{escape(check['tells'])}: {escape(tell(check, 'ours'))} "
        f"<strong>{_word(check['held'])}</strong></li>"
        for check in judged.checks
    )
    title = "each check" if len(judged.checks) > 1 else "where"
    return f"<details><summary>{title}</summary><ul>{rows}</ul></details>"


def _word(held: bool | None) -> str:
    return {True: "held", False: "not held", None: "not judged"}[held]
