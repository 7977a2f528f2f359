"""The tables of the league as rows of text, for every output."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.report.league.aspects import COSTS
from roamcast.report.league.report import LeagueReport, show_ratio
from roamcast.report.league.standings import LossCauses, Standing, WorldRanking
from roamcast.report.numbers import format_estimate, join_names, percent

_NAMED = 3
"Number of protocols tied with the best that are named in the table of worlds."


class TextTable(NamedTuple):
    """A table of plain texts."""

    heads: list[str]
    rows: list[list[str]]


def list_overall(report: LeagueReport) -> TextTable:
    """Return a row per protocol over all worlds; the front first."""
    count = len(report.rankings)
    heads = ["protocol", "delivery", *COSTS, "best or tied", "breaks in", "front"]
    rows = []
    for each in report.overall:
        costs = [show_ratio(each.costs.get(name)) for name in COSTS]
        ran = "" if each.worlds == count else f" ({each.worlds} of {count} worlds)"
        standing = "yes" if not each.dominated_by else f"no: {each.dominated_by[0]} dominates"
        wins, broken = f"{each.best} of {each.worlds}", ", ".join(each.broken) or "-"
        rows.append([f"{each.protocol}{ran}", percent(each.service), *costs, wins, broken, standing])
    return TextTable(heads, rows)


def list_summary(report: LeagueReport) -> TextTable:
    """Return a short row per protocol over all worlds, with numbers of worlds instead of their names."""
    heads = ["protocol", "delivery", *COSTS, "best or tied in", "breaks in", "front"]
    rows = []
    for each in report.overall:
        costs = [show_ratio(each.costs.get(name)) for name in COSTS]
        front = "" if each.dominated_by else "yes"
        wins, broken = f"{each.best} of {each.worlds}", f"{len(each.broken)} of {each.worlds}"
        rows.append([each.protocol, percent(each.service), *costs, wins, broken, front])
    return TextTable(heads, rows)


def list_matrix(report: LeagueReport) -> TextTable:
    """Return the delivery of each protocol in each world in per cent: `*` best or tied, `!` breaks."""
    rows = []
    for each in report.overall:
        cells = [_cell(ranking.find(each.protocol)) for ranking in report.rankings]
        rows.append([each.protocol, *cells])
    return TextTable(["protocol", *(ranking.world for ranking in report.rankings)], rows)


def _cell(standing: Standing | None) -> str:
    if standing is None:
        return "-"
    return f"{100 * standing.service['mean']:.0f}{'*' if standing.mark else '!' * standing.breaks}"


def list_world(ranking: WorldRanking) -> TextTable:
    """Return a row per protocol of a world, the one that delivers most first."""
    service = "delivery" if ranking.service == "delivery_rate" else "satisfied requests"
    heads = ["", "protocol", service, *(f"{aspect.title} ({aspect.unit})" for aspect in COSTS.values()), ""]
    rows = []
    for number, each in enumerate(ranking.standings, 1):
        costs = [format_estimate(each.costs[name]) if name in each.costs else "-" for name in COSTS]
        mark = each.mark or ("breaks" if each.breaks else "")
        rows.append([str(number), each.protocol, percent(each.service), *costs, mark])
    return TextTable(heads, rows)


def list_breaks(report: LeagueReport) -> TextTable:
    """Return the worlds in which each protocol breaks, or its worst world, with causes of the losses."""
    rows = []
    for each in report.overall:
        for ranking in report.rankings:
            counted = report.causes.get((ranking.world, each.protocol))
            standing = ranking.find(each.protocol)
            if counted is None or standing is None:
                continue
            how = "breaks" if standing.breaks else "worst world"
            best = ranking.standings[0]
            rate = f"{percent(standing.service)}; {best.protocol} {percent(best.service)}"
            causes = _name_causes(counted) if counted.missed else "nothing was lost in the first seed"
            conditions = report.conditions[ranking.world].summarise()
            rows.append([each.protocol, ranking.world, conditions, how, rate, causes])
    return TextTable(["protocol", "world", "conditions", "", "delivery", "causes of the losses"], rows)


def list_conditions(report: LeagueReport) -> TextTable:
    """Return the conditions of each world, who is best in it and which protocols break."""
    rows = []
    for ranking in report.rankings:
        broken = [each.protocol for each in ranking.standings if each.breaks]
        text = report.conditions[ranking.world].describe()
        rows.append([ranking.world, text, _name_best(ranking), join_names(broken) if broken else "-"])
    return TextTable(["world", "conditions", "best", "break"], rows)


def _name_best(ranking: WorldRanking) -> str:
    """Return who delivers most, how much, and who is not significantly worse; of many their number."""
    first = ranking.standings[0]
    best = f"{first.protocol}, {percent(first.service)}"
    tied = [name for name in ranking.leaders if name != first.protocol]
    if not tied:
        return best
    answer = join_names(tied) if len(tied) <= _NAMED else f"{len(tied)} others"
    return f"{best}; {answer} not significantly worse"


def _name_causes(counted: LossCauses, most: int = 3) -> str:
    """Return the most frequent causes, of at least 5 % of the losses each, with their shares."""
    shown = [(says, times) for says, times in counted.causes[:most] if times >= 0.05 * counted.missed]
    return "; ".join(f"{says} ({100 * times / counted.missed:.0f} %)" for says, times in shown)
