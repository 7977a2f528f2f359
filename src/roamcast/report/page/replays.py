"""Seeds one by one, with links to replays and the causes of loss in the runs that have one."""

from __future__ import annotations

import re
from html import escape

import msgspec

from roamcast.campaign.plan import point_text
from roamcast.report.result import CampaignResult

FOLDER, INDEX = "replays", "index.json"
_FILE = re.compile(r"seed-\d+(-\d+)?\.html")
_EVENT = re.compile(r"\d+/\d+")
_SHOWN = 6
"Causes of a protocol that the page lists."


class LossCause(msgspec.Struct, kw_only=True):
    """A cause of loss in one run, and a case of it."""

    says: str
    times: int = 0
    proven: int = 0
    event: str
    node: int


class RunReplay(msgspec.Struct, kw_only=True):
    """Where the replay of a run is, and why deliveries were lost in the run."""

    protocol: str
    run: str
    seed: int
    file: str
    pane: int
    "Which map of the file shows the run."
    expected: int
    unreachable: int = 0
    "Expected deliveries to which no path led until the end of the run, whatever the protocol."
    causes: list[LossCause]

    def link(self, case: LossCause | None = None) -> str:
        """Return the address of the run, or of a case, relative to the report."""
        at = f"&event={case.event}&node={case.node}" if case is not None else ""
        return f"{FOLDER}/{self.file}#run={self.pane}&only{at}"


def read_replays(result: CampaignResult) -> list[RunReplay]:
    """Return the replays in the campaign's folder, of runs that it still has."""
    file = result.store.folder / FOLDER / INDEX
    if not file.exists():
        return []
    try:
        found = msgspec.json.decode(file.read(), type=list[RunReplay])
    except (OSError, ValueError):  # a damaged index: the report is told without replays
        return []
    known = {row["run"] for row in result.tables["points"]}
    return [
        each
        for each in found
        if each.run in known
        and _FILE.fullmatch(each.file)
        and all(_EVENT.fullmatch(cause.event) for cause in each.causes)
    ]


def make_seeds(result: CampaignResult) -> str:
    """Return the table of seeds and the causes of loss; nothing where there are several points or claims."""
    sweeps = result.campaign.sweeps
    places = [(name, point_text(point)) for name, sweep in sweeps.items() for point in sweep.expand()]
    if len(places) != 1 or result.campaign.claims or not result.values:
        return ""
    protocols = sweeps[places[0][0]].protocols
    replays = {(each.seed, each.protocol): each for each in read_replays(result)}
    return _seeds(result, places[0], protocols, replays) + _causes(protocols, list(replays.values()))


def _seeds(
    result: CampaignResult,
    place: tuple[str, str],
    protocols: list[str],
    replays: dict[tuple[int, str], RunReplay],
) -> str:
    rates = {label: result.by_seed(*place, label, "delivery_rate") for label in protocols}
    delays = {label: result.by_seed(*place, label, "delay_p50") for label in protocols}
    seeds = sorted({seed for each in rates.values() for seed in each})
    if not seeds:
        return ""
    rows = []
    for seed in seeds:
        cells = []
        for label in protocols:
            told = f"{100 * rates[label][seed]:.1f} %" if seed in rates[label] else "-"
            delay = f", {delays[label][seed]:.3g} s" if seed in delays[label] else ""
            replay = replays.get((seed, label))
            watch = f' <a href="{escape(replay.link())}">replay</a>' if replay is not None else ""
            cells.append(f"<td data-label='{escape(label)}'>{told}{delay}{watch}</td>")
        rows.append(f"<tr><th scope='row'>seed {seed}</th>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(label)}</th>" for label in protocols)
    return (
        "<section><h2>Seed by seed</h2><p class='small'>Delivered of what was wanted, and median delay of"
        f" what was delivered. {_hint(result)}</p><div class='wide'><table class='sides'><thead><tr>"
        f"<th>Seed</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _hint(result: CampaignResult) -> str:
    words = f"roamcast replay {result.store.folder} --protocol A,B --seed S"
    return f"Any seed can be watched: <code>{escape(words)}</code>."


def _causes(protocols: list[str], replays: list[RunReplay]) -> str:
    parts = []
    for label in protocols:
        for replay in (each for each in replays if each.protocol == label and each.expected):
            lost = sum(cause.times for cause in replay.causes)
            rows = "".join(_cause(replay, cause, lost) for cause in replay.causes[:_SHOWN])
            share = f"{lost:,} of {replay.expected:,} lost ({lost / replay.expected:.1%})"
            share += _reachable(replay, lost)
            parts.append(
                f"<div class='panel'><h3>{escape(label)}, seed {replay.seed}</h3><p class='small'>{share}</p>"
                f"<table class='causes'><tbody>{rows}</tbody></table></div>"
            )
    if not parts:
        return ""
    return (
        "<section><h2>Why events were lost</h2><p class='small'>Causes by <code>roamcast why</code>; a link"
        f" opens one case in the replay.</p><div class='panels'>{''.join(parts)}</div></section>"
    )


def _reachable(replay: RunReplay, lost: int) -> str:
    """Return what was delivered of what any protocol could have delivered, where that differs."""
    reachable = replay.expected - replay.unreachable
    if not replay.unreachable or reachable <= 0:
        return ""
    share = (replay.expected - lost) / reachable
    return f"; to {replay.unreachable:,} no path ever led: {share:.1%} of what was reachable arrived"


def _cause(replay: RunReplay, cause: LossCause, lost: int) -> str:
    proven = f", {cause.proven:,} proven" if cause.proven else ""
    count = f"<span class='small'>({cause.times:,}{proven})</span>"
    watch = f'<a href="{escape(replay.link(cause))}">watch</a>'
    return f"<tr><td>{cause.times / lost:.0%}</td><td>{escape(cause.says)} {count}</td><td>{watch}</td></tr>"
