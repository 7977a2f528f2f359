"""Coverage of intervals and errors of comparisons, by simulation: the tables of docs/statistics.md.

Each table has the method in use (after) beside the one before it. `python -m validation.coverage` ends
with 1 if a promise of the page is broken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from roamcast.report.comparing.more_seeds import PairedDifferences, seeds_to_tell_apart
from roamcast.report.ranking import eliminate
from roamcast.results.intervals import p_value, quotient_interval, share_interval, student

Reals = npt.NDArray[np.float64]
Ends = tuple[Reals, Reals]

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
BEGIN, END = "<!-- tables by validation.coverage -->", "<!-- end of tables -->"

DRAWS = 4000
SEEDS = (5, 10, 20)
RATES = (0.5, 0.9, 0.99, 0.999)
CORRELATIONS = (0.0, 0.01, 0.05)
BEYOND = 0.2
"A correlation for which the page promises nothing."
TRIALS = (100, 2000)
RIVALS = (2, 3, 4, 8)
LONGEST = 10_000
"Seeds above which a suggested number is not tried."


def draw_rates(
    random: np.random.Generator, rate: float, correlation: float, shape: tuple[int, int, int]
) -> Reals:
    """Shares of runs whose trials are correlated (beta-binomial); `shape` is draws, seeds, trials a run."""
    draws, seeds, trials = shape
    chance: Reals | float = rate
    if correlation > 0:
        size = 1 / correlation - 1
        chance = random.beta(rate * size, (1 - rate) * size, (draws, seeds))
    return np.asarray(random.binomial(trials, chance, (draws, seeds)) / trials, np.float64)


def share_before(rates: Reals, trials: int) -> Ends:
    """Student's t of the mean's logit."""
    seeds = rates.shape[1]
    mean, half = rates.mean(1), student(seeds) * rates.std(1, ddof=1) / seeds**0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = half / (mean * (1 - mean))
        ends = expit(logit(mean) - wide), expit(logit(mean) + wide)
    sure = (mean == 0) | (mean == 1)
    return np.where(sure, mean, ends[0]), np.where(sure, mean, ends[1])


def share_after(rates: Reals, trials: int) -> Ends:
    """The interval in use."""
    draws, seeds = rates.shape
    return share_interval(
        rates.mean(1), rates.std(1, ddof=1), np.full(draws, float(seeds)), np.full(draws, float(trials))
    )


def covers(ends: Ends, truth: float) -> float:
    """How often `truth` lies between the ends, rounding aside."""
    return float(np.mean((ends[0] <= truth + 1e-12) & (truth - 1e-12 <= ends[1])))


def find_leaders_before(values: Reals) -> int:
    """How many may be best of protocols x seeds: each compared with the best mean alone (Bonferroni)."""
    count, seeds = values.shape
    best = int(values.mean(1).argmax())
    gaps = values[best] - np.delete(values, best, 0)
    half = student(seeds, count - 1) * gaps.std(1, ddof=1) / seeds**0.5
    return count - int(np.sum(gaps.mean(1) > half))


def find_leaders_after(values: Reals, trials: float | None) -> list[int]:
    """Which may be best, as `roamcast compare` finds them."""
    seeds = values.shape[1]
    ordered = [str(i) for i in np.argsort(-values.mean(1), kind="stable")]
    chances = {}
    for better, worse in combinations(ordered, 2):
        gap = values[int(better)] - values[int(worse)]
        chances[better, worse] = p_value(float(gap.mean()), float(gap.std(ddof=1)), seeds, trials)
    return [int(name) for name in eliminate(ordered, chances)]


def accuse(
    random: np.random.Generator, rivals: int, seeds: int, draws: int, rate: float | None
) -> tuple[float, float]:
    """How often one of `rivals` equal protocols is called worse, before and after.

    Without `rate` values are normal, half of their variance common to all; else shares of 100 trials.
    """
    wrong = [0, 0]
    for _ in range(draws):
        if rate is None:
            values = random.normal(size=(rivals, seeds)) + random.normal(size=seeds)
        else:
            values = draw_rates(random, rate, 0.01, (rivals, seeds, 100))
        wrong[0] += find_leaders_before(values) < rivals
        wrong[1] += len(find_leaders_after(values, None if rate is None else 100.0)) < rivals
    return wrong[0] / draws, wrong[1] / draws


def name_best(random: np.random.Generator, rivals: int, seeds: int, draws: int) -> tuple[float, float]:
    """How often the one protocol that is better by 1.5 deviations of a paired difference is named best."""
    right = [0, 0]
    for _ in range(draws):
        values = random.normal(size=(rivals, seeds)) / 2**0.5
        values[0] += 1.5
        right[0] += find_leaders_before(values) == 1
        right[1] += find_leaders_after(values, None) == [0]
    return right[0] / draws, right[1] / draws


def divide(random: np.random.Generator, spread: float, seeds: int, draws: int) -> tuple[float, float, float]:
    """Coverage of a quotient of 2, whose base has mean 1 and deviation `spread`: before, after, unbounded.

    Before: Student's t of the mean of quotients.
    """
    below = 1 + spread * random.normal(size=(draws, seeds))
    above = 2 * below + 0.3 * random.normal(size=(draws, seeds))
    quotients = above / below
    mean, half = quotients.mean(1), student(seeds) * quotients.std(1, ddof=1) / seeds**0.5
    a, b = above.mean(1), below.mean(1)
    common = ((above - a[:, None]) * (below - b[:, None])).sum(1) / (seeds - 1)
    spreads = (above.var(1, ddof=1), below.var(1, ddof=1), common)
    lower, upper = quotient_interval(a, b, spreads, np.full(draws, float(seeds)))
    open_ = np.isnan(lower) | (b <= 0)
    within = (lower <= 2) & (upper >= 2)
    return covers((mean - half, mean + half), 2.0), float(np.mean(within | open_)), float(np.mean(open_))


def shares() -> Iterator[str]:
    """The table of coverage of shares."""
    random = np.random.default_rng(20)
    yield "Coverage of the true delivery rate (%), before → after:"
    yield ""
    yield "| trials a run | correlation | rate | " + " | ".join(f"{seeds} seeds" for seeds in SEEDS) + " |"
    yield "|---" * (3 + len(SEEDS)) + "|"
    for trials in TRIALS:
        for correlation in (*CORRELATIONS, BEYOND):
            for rate in RATES:
                cells = []
                for seeds in SEEDS:
                    rates = draw_rates(random, rate, correlation, (DRAWS, seeds, trials))
                    before, after = (covers(of(rates, trials), rate) for of in (share_before, share_after))
                    cells.append(f"{100 * before:.0f} → {100 * after:.0f}")
                yield f"| {trials:,} | {correlation:g} | {rate:g} | {' | '.join(cells)} |"


def rivals() -> Iterator[str]:
    """The table of equal protocols that are called worse, and of the best that is found."""
    random = np.random.default_rng(21)
    yield "Cases in which one of several equal protocols is called worse (%), and in which the one that is"
    yield "better by 1.5 deviations of a paired difference is named best (%), before → after:"
    yield ""
    yield "| protocols | seeds | equal, normal | equal, rate 0.99 | best is named |"
    yield "|---|---|---|---|---|"
    for count in RIVALS:
        for seeds in SEEDS:
            found = (
                accuse(random, count, seeds, DRAWS, None),
                accuse(random, count, seeds, DRAWS, 0.99),
                name_best(random, count, seeds, DRAWS),
            )
            cells = [f"{100 * before:.1f} → {100 * after:.1f}" for before, after in found]
            yield f"| {count} | {seeds} | {' | '.join(cells)} |"


def quotients() -> Iterator[str]:
    """The table of quotients."""
    random = np.random.default_rng(22)
    yield "Coverage of a quotient (%), before → after; in brackets, how often it then has no finite end (%):"
    yield ""
    yield "| deviation of the base over its mean | " + " | ".join(f"{seeds} seeds" for seeds in SEEDS) + " |"
    yield "|---" * (1 + len(SEEDS)) + "|"
    for spread in (0.1, 0.3, 1.0, 3.0):
        found = [divide(random, spread, seeds, DRAWS) for seeds in SEEDS]
        cells = [f"{100 * a:.0f} → {100 * b:.0f} ({100 * c:.0f})" for a, b, c in found]
        yield f"| {spread:g} | {' | '.join(cells)} |"


def decide(
    random: np.random.Generator, effect: float, seeds: int, draws: int
) -> tuple[list[int], float, float]:
    """Seeds that are said to decide a tie of two protocols that differ by `effect` deviations.

    Returns the suggested numbers of seeds, the share of ties with a suggestion, and the share of these
    that as many seeds, the first `seeds` among them, decide for the better protocol.
    """
    suggested, ties, decided = [], 0, 0
    for _ in range(draws):
        first = random.normal(effect, 1.0, seeds)
        if p_value(float(first.mean()), float(first.std(ddof=1)), seeds, None) <= 0.05:
            continue
        ties += 1
        needed = seeds_to_tell_apart(PairedDifferences(float(first.mean()), float(first.std(ddof=1)), seeds))
        if needed is None or needed > LONGEST:
            continue
        suggested.append(needed)
        whole = np.concatenate([first, random.normal(effect, 1.0, needed - seeds)])
        sure = p_value(float(whole.mean()), float(whole.std(ddof=1)), needed, None) <= 0.05
        decided += sure and whole.mean() > 0
    return suggested, len(suggested) / ties, decided / len(suggested)


def ties() -> Iterator[str]:
    """The table of seeds that decide a tie."""
    random = np.random.default_rng(23)
    yield "Seeds said to decide a tie of two protocols, by their true difference (in deviations of the paired"
    yield "differences): how many would do for four of five, how many are told (median, and 10th to 90th"
    yield f"percentile), in how many ties a number up to {LONGEST:,} is told (%), and how often it decides:"
    yield ""
    yield "| difference | seeds so far | would do | told: median | told: 10 % to 90 % | told in | decide |"
    yield "|---" * 7 + "|"
    for effect in (0.8, 0.5, 0.3, 0.1):
        for seeds in (5, 10, 20):
            numbers, share, right = decide(random, effect, seeds, DRAWS // 4)
            true = seeds_to_tell_apart(PairedDifferences(effect, 1.0, 2))
            low, middle, high = np.percentile(numbers, (10, 50, 90))
            spread = f"{low:.0f} to {high:.0f}"
            cells = (effect, seeds, true, f"{middle:.0f}", spread, f"{100 * share:.0f}", f"{100 * right:.0f}")
            yield f"| {' | '.join(map(str, cells))} |"


def find_broken(draws: int, seed: int = 1) -> list[str]:
    """The promises of the page that do not hold, in words; none if all is well."""
    random = np.random.default_rng(seed)
    broken = []
    for trials in TRIALS:
        for correlation in CORRELATIONS:
            for rate in RATES:
                for seeds in SEEDS:
                    rates = draw_rates(random, rate, correlation, (draws, seeds, trials))
                    found = covers(share_after(rates, trials), rate)
                    if found < 0.90:
                        where = f"rate {rate}, {seeds} seeds, {trials} trials, correlation {correlation}"
                        broken.append(f"{where}: the interval covers {found:.3f}")
    for count in RIVALS:
        for seeds in SEEDS:
            for rate in (None, 0.99):
                _, found = accuse(random, count, seeds, max(draws // 4, 1), rate)
                if found > 0.05 + 3 * (0.05 * 0.95 / max(draws // 4, 1)) ** 0.5:
                    broken.append(
                        f"{count} equal protocols, {seeds} seeds: one is called worse in {found:.3f}"
                    )
    for spread in (0.1, 0.3, 1.0, 3.0):
        for seeds in SEEDS:
            _, found, _ = divide(random, spread, seeds, draws)
            if found < 0.93:
                broken.append(f"quotient, spread {spread}, {seeds} seeds: the interval covers {found:.3f}")
    return broken


def main() -> int:
    """Write the tables into the page; 1 if a promise is broken."""
    tables = "\n\n".join("\n".join(table) for table in (shares(), rivals(), quotients(), ties()))
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n\n{tables}\n\n{END}{tail}", encoding="utf-8")
    broken = find_broken(DRAWS)
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
