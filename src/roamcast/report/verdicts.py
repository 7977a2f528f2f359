"""Claims as a part of the page: what the paper says, what we asked, our numbers, held or not held."""

from __future__ import annotations

from html import escape

from roamcast.report.result import Judged, with_interval

_WORDS = {
    "ordering": "each step: the difference from one protocol to the next, in the order claimed",
    "trend": "climb: of the least-squares line from one end of the axis to the other, as a share of the mean",
    "crossing": "crossing: where the least-squares line through the differences of two protocols is zero",
}


def make_claims(claims: list[Judged]) -> str:
    """The section of claims."""
    kinds = {judged.claim.kind for judged in claims}
    words = "".join(f" {_WORDS[kind].capitalize()}." for kind in _WORDS if kind in kinds)
    rows = "".join(_row(judged) for judged in claims)
    return (
        f"<section><h2>Claims</h2><p class='verdict'>{escape(sum_up(claims))}</p>"
        "<table class='claims'><thead><tr><th>Claim</th><th>The paper</th>"
        f"<th>Asked</th><th>Ours</th><th>Verdict</th></tr></thead><tbody>{rows}</tbody></table>"
        "<p class='small'>A claim holds if every number it asks for lies in its bounds. Numbers are means "
        "over seeds with 95 % Student-t intervals; protocols are compared on the same seeds. Within the "
        "interval: the interval reaches across the bound, so more seeds might decide otherwise."
        f"{escape(words)}</p></section>"
    )


def sum_up(claims: list[Judged]) -> str:
    """How many claims held, in a sentence, and how many verdicts the intervals leave open."""
    tally = {v: sum(judged.verdict == v for judged in claims) for v in ("held", "not held", "not judged")}
    told = f"{tally['held']} of {len(claims)} claims held, {tally['not held']} did not"
    if tally["not judged"]:
        told += f", {tally['not judged']} could not be judged"
    open_ = sum(judged.sure is False for judged in claims if judged.verdict != "not judged")
    more = f" {open_} of these verdicts are within the interval: more seeds might decide otherwise."
    return f"{told}.{more if open_ else ''}"


def _row(judged: Judged) -> str:
    claim = judged.claim
    where = ", ".join(
        part for part in (f"section {claim.section}" if claim.section else "", claim.figure) if part
    )
    sure = {True: "", False: " (within the interval)", None: " (no interval)"}[judged.sure]
    if judged.verdict == "not judged":
        sure = ""
    mark = judged.verdict.replace(" ", "-")
    return (
        f'<tr class="{mark}"><td data-label="Claim">{escape(claim.says)}'
        f'<span class="where">{escape(where)}</span></td>'
        f'<td data-label="Paper">{escape(claim.paper or "-")}</td>'
        f'<td data-label="Asked">{escape(judged.asked)}</td>'
        f'<td data-label="Ours">{escape(judged.ours)}{_checks(judged)}</td>'
        f'<td data-label="Verdict"><strong>{judged.verdict}</strong>{sure}</td></tr>'
    )


def _checks(judged: Judged) -> str:
    """Each check with its number, where there are several or where the only one failed."""
    if len(judged.checks) < 2 and not judged.broken:
        return ""
    rows = "".join(
        f"<li>{escape(check['tells'])}: {escape(with_interval(check['ours'], check['half']))} "
        f"<strong>{_word(check['held'])}</strong></li>"
        for check in judged.checks
    )
    title = "each check" if len(judged.checks) > 1 else "where"
    return f"<details><summary>{title}</summary><ul>{rows}</ul></details>"


def _word(held: bool | None) -> str:
    return {True: "held", False: "not held", None: "not judged"}[held]
