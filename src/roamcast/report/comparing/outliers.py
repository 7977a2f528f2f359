"""Outlying seeds: those in which the best protocol delivers much less than in the median seed, and why."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from roamcast.report.replay_index import RunReplay, read_replays

if TYPE_CHECKING:
    from roamcast.report.result import CampaignResult

OUTLYING = 0.1
"Distance below the median delivery rate at which a seed counts as an outlier."

MOST_NAMED = 3
"Outlying seeds that an answer names, the worst first."

_EXPLAINS = 0.5
"Share of a seed's losses at which one cause is named as the cause."


def find_outliers(rates: dict[int, float]) -> list[int]:
    """Return the outlying seeds, the worst first."""
    if not rates:
        return []
    middle = median(rates.values())
    return sorted(
        (seed for seed, rate in rates.items() if rate < middle - OUTLYING),
        key=lambda seed: (rates[seed], seed),
    )


def describe_outliers(result: CampaignResult, place: tuple[str, str], protocol: str) -> list[str]:
    """Return a sentence for each outlying seed: the delivery rate of a protocol, and the cause if known."""
    rates, reachable, expected = (
        result.by_seed(*place, protocol, metric) for metric in ("delivery_rate", "reachable", "expected")
    )
    found = find_outliers(rates)
    sentences = []
    for seed in found[:MOST_NAMED]:
        cause = ""
        if expected.get(seed) and seed in reachable:
            unreachable = 1 - reachable[seed] / expected[seed]
            if unreachable >= _EXPLAINS * (1 - rates[seed]):
                share = f"{100 * unreachable:.0f} %"
                cause = f": for {share} of the expected deliveries no path existed until the end"
        cause = cause or _name_cause(result, protocol, seed)
        sentences.append(f"In seed {seed} its delivery rate is {100 * rates[seed]:.1f} %{cause}.")
    if len(found) > MOST_NAMED:
        sentences.append(f"{len(found) - MOST_NAMED} more seeds are more than ten points below the median.")
    return sentences


def _name_cause(result: CampaignResult, protocol: str, seed: int) -> str:
    """Return the most frequent cause of loss in a run, if its replay was written and the cause dominates."""
    replays = read_replays(result)
    run = next((each for each in replays if (each.protocol, each.seed) == (protocol, seed)), None)
    return "" if run is None else describe_main_cause(run)


def describe_main_cause(run: RunReplay) -> str:
    """Return the cause of most losses of a run as the end of a sentence; empty if none dominates."""
    lost = sum(cause.times for cause in run.causes)
    main = max(run.causes, key=lambda cause: cause.times, default=None)
    if main is None or main.times < _EXPLAINS * lost:
        return ""
    proven = ", proven for all of them" if main.proven == main.times else ""
    if 0 < main.proven < main.times:
        proven = f", proven for {main.proven:,}"
    return f": {main.times:,} of {lost:,} losses because {main.says}{proven}"
