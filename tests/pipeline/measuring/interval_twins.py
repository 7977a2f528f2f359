"""The intervals of docs/statistics.md once more, a number at a time, by scipy's distributions."""

import math
import statistics

from scipy.stats import beta, norm
from scipy.stats import t as student_t


def reach(count, together=1):
    return student_t.ppf(1 - 0.025 / together, count - 1)


def of_mean(values):
    """Mean and half of Student's interval."""
    half = reach(len(values)) * statistics.stdev(values) / len(values) ** 0.5
    return statistics.fmean(values), half


def share(rates, trials):
    """Korn and Graubard's interval, with an assumed cluster of lost trials."""
    count, mean = len(rates), statistics.fmean(rates)
    whole = count * trials
    effect = 1.0
    if 0 < mean < 1:
        effect = max(1.0, statistics.variance(rates) / (mean * (1 - mean) / trials))
    lost = whole * min(mean, 1 - mean)
    effect = max(effect, (lost + 1 + max(trials - 1, 0) * 0.05) / (lost / effect + 1))
    size = whole / effect * (norm.ppf(0.975) / reach(count)) ** 2
    lower = beta.ppf(0.025, mean * size, size - mean * size + 1) if mean > 0 else 0.0
    upper = beta.ppf(0.975, mean * size + 1, size - mean * size) if mean < 1 else 1.0
    return lower, upper


def amount(values):
    mean, half = of_mean(values)
    return (mean * math.exp(-half / mean), mean * math.exp(half / mean)) if mean else (mean, mean)


def difference(values, trials, together=1):
    """Student's interval; of shares no narrower than the trials that must differ allow."""
    mean, half = of_mean(values)
    half *= reach(len(values), together) / reach(len(values))
    if trials is not None:
        whole = len(values) * trials
        half = max(
            half,
            reach(len(values), together)
            * math.sqrt((abs(mean) + reach(len(values), together) ** 2 / whole) / whole),
        )
    return mean - half, mean + half


def quotient(pairs):
    """Fieller's interval: the r for which a mean of above - r * below of zero is not refuted; or None."""
    above, below = ([pair[i] for pair in pairs] for i in (0, 1))
    count, t = len(pairs), reach(len(pairs))
    a, b = statistics.fmean(above), statistics.fmean(below)
    va, vb = statistics.variance(above) / count, statistics.variance(below) / count
    cab = statistics.covariance(above, below) / count
    # (a - r b)^2 <= t^2 (va - 2 r cab + r^2 vb)
    square, line, rest = b * b - t * t * vb, -2 * (a * b - t * t * cab), a * a - t * t * va
    if square <= 0:
        return None
    root = math.sqrt(max(line * line - 4 * square * rest, 0))
    return (-line - root) / (2 * square), (-line + root) / (2 * square)
