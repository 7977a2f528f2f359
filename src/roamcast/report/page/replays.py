"""Seeds one by one, with links to replays and the causes of loss in the runs that have one."""

from __future__ import annotations

from html import escape

from roamcast.campaign.plan import point_text
from roamcast.report.replay_index import LossCause, RunReplay, read_replays
from roamcast.report.result import CampaignResult

_SHOWN = 6
"Causes of a protocol that the page lists."


def make_seeds(result: CampaignResult) -> str:
    """Return the table of seeds and the causes of loss; nothing where there are several points or claims."""
    sweeps = result.campaign.sweeps
    places = [(name, point_text(point)) for name, sweep in sweeps.items() for point in sweep.expand()]
    if len(places) != 1 or result.campaign.claims or not result.values:
        return ""
    protocols = sweeps[places[0][0]].protocols
    replays = {(each.seed, each.protocol): each for each in read_replays(result)}
    return _seeds(result, places[0], protocols, replays) + _causes(protocols, list(replays.values()))


def make_next_steps(result: CampaignResult) -> str:
    """Return links to the causes of loss and to a replay, for the top of the page, if there are replays."""
    replays = read_replays(result)
    if not replays:
        return ""
    watch = f'<a href="{escape(replays[0].link().partition("#")[0])}">Watch seed {replays[0].seed}</a>'
    causes = "<a href='#losses'>Why were events lost?</a> " if any(each.expected for each in replays) else ""
    return f"<p class='next'>{causes}{watch}</p>"


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
    reachable = _reachable_shares(result, place, protocols)
    rows = []
    for seed in seeds:
        cells = []
        for label in protocols:
            text = f"{100 * rates[label][seed]:.1f} %" if seed in rates[label] else "-"
            delay = f", {delays[label][seed]:.3g} s" if seed in delays[label] else ""
            replay = replays.get((seed, label))
            watch = f' <a href="{escape(replay.link())}">replay</a>' if replay is not None else ""
            cells.append(f"<td data-label='{escape(label)}'>{text}{delay}{watch}</td>")
        if reachable:
            text = f"{100 * reachable[seed]:.1f} %" if seed in reachable else "-"
            cells.insert(0, f"<td data-label='reachable'>{text}</td>")
        rows.append(f"<tr><th scope='row'>seed {seed}</th>{''.join(cells)}</tr>")
    head = "<th>Reachable</th>" if reachable else ""
    head += "".join(f"<th>{escape(label)}</th>" for label in protocols)
    return (
        "<section><h2>Seed by seed</h2><p class='small'>Reachable: share of the expected deliveries for which"
        " a path existed before the end. For each protocol: delivery rate and median delay of its deliveries."
        f" {_hint(result)}</p><div class='wide'><table class='sides'><thead><tr>"
        f"<th>Seed</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _reachable_shares(
    result: CampaignResult, place: tuple[str, str], protocols: list[str]
) -> dict[int, float]:
    """Return by seed the share of expected deliveries with a path; it is the same for all protocols."""
    found: dict[int, float] = {}
    for label in protocols:
        of = result.by_seed(*place, label, "reachable")
        wanted = result.by_seed(*place, label, "expected")
        found |= {seed: of[seed] / wanted[seed] for seed in of if wanted.get(seed)}
    return found


def _hint(result: CampaignResult) -> str:
    words = f"roamcast replay {result.store.folder} --protocol A,B --seed S"
    return f"To watch any seed: <code>{escape(words)}</code>."


def _causes(protocols: list[str], replays: list[RunReplay]) -> str:
    parts = []
    for label in protocols:
        for replay in (each for each in replays if each.protocol == label and each.expected):
            lost = sum(cause.times for cause in replay.causes)
            rows = "".join(_cause(replay, cause, lost) for cause in replay.causes[:_SHOWN])
            share = f"{lost:,} of {replay.expected:,} lost ({100 * lost / replay.expected:.1f} %)"
            share += _reachable(replay, lost)
            parts.append(
                f"<div class='panel'><h3>{escape(label)}, seed {replay.seed}</h3><p class='small'>{share}</p>"
                f"<table class='causes'><tbody>{rows}</tbody></table></div>"
            )
    if not parts:
        return ""
    return (
        "<section id='losses'><h2>Why events were lost</h2><p class='small'>"
        "Causes found by <code>roamcast why</code>."
        f" A link opens one case in the replay.</p><div class='panels'>{''.join(parts)}</div></section>"
    )


def _reachable(replay: RunReplay, lost: int) -> str:
    """Return the delivery rate of the reachable deliveries, if some were not reachable."""
    reachable = replay.expected - replay.unreachable
    if not replay.unreachable or reachable <= 0:
        return ""
    share = (replay.expected - lost) / reachable
    return f"; {replay.unreachable:,} had no path; {100 * share:.1f} % of the others were delivered"


def _cause(replay: RunReplay, cause: LossCause, lost: int) -> str:
    proven = (
        ""
        if not cause.proven
        else ", proven"
        if cause.proven == cause.times
        else f", {cause.proven:,} proven"
    )
    share = 100 * cause.times / lost
    count = f"<span class='small'>({cause.times:,}{proven})</span>"
    watch = f'<a href="{escape(replay.link(cause))}">watch</a>'
    rounded = "&lt;1" if share < 0.5 else f"{share:.0f}"
    return f"<tr><td>{rounded} %</td><td>{escape(cause.says)} {count}</td><td>{watch}</td></tr>"
