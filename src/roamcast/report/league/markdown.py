"""The league as Markdown: a whole page, or the parts that a page marks.

A part stands between the lines `<!-- league: NAME -->` and `<!-- league: end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from roamcast.errors import UserError
from roamcast.report.league.drawings import league_figures
from roamcast.report.league.page import BROKEN, OVERALL
from roamcast.report.league.report import LeagueReport
from roamcast.report.league.tables import (
    TextTable,
    list_breaks,
    list_conditions,
    list_overall,
    list_summary,
    list_world,
)

_PART = re.compile(r"(<!-- league: (?!end)([\w-]+) -->\n).*?(<!-- league: end -->)", re.DOTALL)


def check_parts(file: Path) -> None:
    """Raise UserError unless `file` can be written: a new file in a folder, or a page with known parts."""
    if not file.parent.is_dir():
        raise UserError(f"{file}: cannot be written: no such folder: {file.parent}")
    if not file.exists():
        return
    names = [found[2] for found in _PART.finditer(file.read_text(encoding="utf-8"))]
    if not names:
        raise UserError(f"{file}: has no part of the league; expected a line <!-- league: summary -->")
    for name in names:
        if name not in PARTS:
            raise UserError(f"{file}: unknown part {name!r} of the league; expected {', '.join(PARTS)}")


def write_league(report: LeagueReport, file: Path) -> None:
    """Write the marked parts of `file`, or the whole if it does not exist, and figures to its folder."""
    check_parts(file)
    known = file.read_text(encoding="utf-8") if file.exists() else _skeleton(report)
    folder = file.with_suffix("")
    text = _PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]](report, folder.name)}\n\n{found[3]}", known)
    figures = [figure for figure in league_figures(report) if f"{folder.name}/{figure.name}.svg" in text]
    if figures:
        folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        (folder / f"{figure.name}.svg").write_bytes(figure.render("svg"))
    file.write_text(text, encoding="utf-8")


def _skeleton(report: LeagueReport) -> str:
    parts = "".join(f"<!-- league: {name} -->\n<!-- league: end -->\n\n" for name in PARTS if name != "table")
    return f"# {report.result.campaign.title}\n\n{parts}"


def _table(table: TextTable) -> str:
    lines = [f"| {' | '.join(table.heads)} |", "|---" * len(table.heads) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _summary(report: LeagueReport, _: str) -> str:
    return f"{report.headline()}\n\n{_table(list_overall(report))}\n\n{report.basis}"


def _table_part(report: LeagueReport, _: str) -> str:
    return f"{report.headline()}\n\n{_table(list_summary(report))}\n\n{report.basis}"


def _matrix(report: LeagueReport, folder: str) -> str:
    figure = league_figures(report)[0]
    return f"![{figure.caption}]({folder}/{figure.name}.svg)\n\n{figure.caption}"


def _overall(report: LeagueReport, folder: str) -> str:
    fronts = "\n".join(
        f"![{figure.caption}]({folder}/{figure.name}.svg)" for figure in league_figures(report)[1:]
    )
    return f"{OVERALL}\n\n{fronts}"


def _worlds(report: LeagueReport, _: str) -> str:
    sections = "\n\n".join(
        f"### {each.world}\n\n{report.describe_world(each)}\n\n{_table(list_world(each))}"
        for each in report.rankings
    )
    return f"{_table(list_conditions(report))}\n\n{sections}"


def _breaks(report: LeagueReport, _: str) -> str:
    unserved = "\n".join(
        f"- {protocol} does not run in {world}: it {reason}."
        for (world, protocol), reason in report.unserved.items()
    )
    return f"{BROKEN}\n\n{_table(list_breaks(report))}" + (f"\n\n{unserved}" if unserved else "")


PARTS: dict[str, Callable[[LeagueReport, str], str]] = {
    "summary": _summary,
    "table": _table_part,
    "matrix": _matrix,
    "overall": _overall,
    "breaks": _breaks,
    "worlds": _worlds,
}
"Parts of a page by name: each takes the report and the folder of the figures."
