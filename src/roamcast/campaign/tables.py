"""The pipeline's tables: every column with its type, unit and meaning, declared once.

`roamcast.pipeline.reference` generates `docs/tables.md` from this module and `roamcast.lake.columns`.
"""

from __future__ import annotations

import pyarrow as pa

from roamcast.metrics.declarations import METRICS


def _column(name: str, kind: pa.DataType, meaning: str, unit: str = "", null: str = "") -> pa.Field:
    told = f"{meaning}; null: {null}" if null else meaning
    return pa.field(name, kind, nullable=bool(null), metadata={"meaning": told, "unit": unit})


_TEXT, _COUNT, _REAL = pa.string(), pa.int64(), pa.float64()
_RUN = _column("run", _TEXT, "digest of scenario, protocol, parameters, seed and version")
_SWEEP = _column("sweep", _TEXT, "the campaign's sweep")
_POINT = _column("point", _TEXT, "the sweep's settings at this point, as JSON with sorted keys")
_LABEL = _column("protocol", _TEXT, "the campaign's label of the protocol")
_SEED = _column("seed", _COUNT, "same seed, same movement and publications under every protocol")
_METRIC = _column("metric", _TEXT, "a column of the metrics table")
_SEEDS = _column("count", _COUNT, "seeds that have a value")
_TRIALS = _column(
    "trials", _REAL, "trials in a run that the shares are of, harmonic mean over seeds", "", "no shares"
)
_DEVIATION = _column(
    "deviation", _REAL, "standard deviation over seeds", "the metric's", "fewer than two seeds"
)
_HALF = _column("half", _REAL, "half the length of the 95 % interval", "the metric's", "no interval")
_ENDS = [
    _column(
        name,
        _REAL,
        f"{what} end of the 95 % interval",
        "the metric's",
        "fewer than two seeds, or no finite end",
    )
    for name, what in (("lower", "lower"), ("upper", "upper"))
]
_EXTREMES = [
    _column("least", _REAL, "over seeds", "the metric's"),
    _column("most", _REAL, "over seeds", "the metric's"),
]

PLAN = pa.schema(
    [
        _RUN,
        _column("router", _TEXT, "the protocol's name in the catalogue"),
        _column("parameters", _TEXT, "all its parameters, as JSON"),
        _SEED,
        _column("scenario", _TEXT, "the scenario with the point's settings, as JSON in SI units"),
        _column("duration", _REAL, "simulated", "s"),
        _column("warmup", _REAL, "left out of the metrics", "s"),
        _column("radio_range", _REAL, "within which a frame is understood", "m"),
        _column("header", _COUNT, "added to each message below the router", "B"),
        _column("nodes", _COUNT, "in the scenario"),
        _column("version", _TEXT, "of Roamcast, with a digest of the code that decides results"),
        _column("inputs", _TEXT, "digest of the files that the scenario names"),
        _column("command", _TEXT, "reproduces this run"),
    ]
)

POINTS = pa.schema([_SWEEP, _POINT, _LABEL, _SEED, _RUN])

RUNS = pa.schema(
    [
        _RUN,
        _column("status", _TEXT, "done, failed or missing"),
        _column("error", _TEXT, "why it failed, in a line; empty if it did not"),
        _column("wall", _REAL, "time it took", "s", "not run"),
        _column("cpu", _REAL, "processor time it took", "s", "not run"),
        _column("memory", _COUNT, "the most memory it held", "B", "not run"),
        _column("rows", _COUNT, "facts it wrote", "", "not done"),
        _column("size", _COUNT, "of its fact files", "B", "not done"),
    ]
)

METRICS_TABLE = pa.schema(
    [_RUN, *(_column(m.name, _REAL, m.meaning, m.unit, "nothing to divide by") for m in METRICS.values())]
)

SUMMARY = pa.schema(
    [
        _SWEEP,
        _POINT,
        _LABEL,
        _METRIC,
        _SEEDS,
        _column("mean", _REAL, "over seeds", "the metric's"),
        _DEVIATION,
        _TRIALS,
        _HALF,
        *_ENDS,
        *_EXTREMES,
    ]
)

DIFFERENCES = pa.schema(
    [
        _SWEEP,
        _POINT,
        _METRIC,
        _LABEL,
        _column("other", _TEXT, "the protocol whose number is taken off, seed by seed"),
        _column("count", _COUNT, "seeds that both have"),
        _column("mean", _REAL, "of the differences", "the metric's"),
        _DEVIATION,
        _TRIALS,
        _HALF,
    ]
)

TERMS = pa.schema(
    [
        _column("claim", _TEXT, "key of the claim in the campaign"),
        _column("part", _COUNT, "which of the claim's checks"),
        _SEED,
        _RUN,
        _METRIC,
        _column("above", _REAL, "weight of the value in the check's numerator"),
        _column("below", _REAL, "weight of the value in its denominator, zero everywhere if it has none"),
    ]
)

CHECKS = pa.schema(
    [
        _column("claim", _TEXT, "key of the claim in the campaign"),
        _column("part", _COUNT, "which of the claim's checks"),
        _column("tells", _TEXT, "what the check compares, and where"),
        _column("terms", _COUNT, "values that a seed must have to count"),
        _column(
            "divisor",
            _TEXT,
            "none, positive (not judged unless its sum over seeds is above 0) or any (other than 0)",
        ),
        _column("low", _REAL, "the number must not be below", "", "no such bound"),
        _column("high", _REAL, "the number must not be above", "", "no such bound"),
        _column("strict", pa.bool_(), "whether touching a bound breaks it"),
        _column(
            "scale",
            _TEXT,
            "where the number can lie: share (0 to 1), amount (from 0 up), difference (of shares) or any",
        ),
    ]
)

HELD, NOT_HELD, UNDECIDED, NOT_JUDGED = "held", "not held", "undecided", "not judged"
"The verdicts on a check or a claim."

VERDICTS = pa.schema(
    [
        *CHECKS,
        _SEEDS,
        _column(
            "ours",
            _REAL,
            "our number: the mean over seeds, or the quotient of two sums over seeds",
            "",
            "no seed has all values, or the divisor is not above 0",
        ),
        _HALF,
        *_ENDS,
        *(field.with_nullable(True) for field in _EXTREMES),
        _column(
            "inside", pa.bool_(), "whether our number itself lies within the bounds", "", "there is none"
        ),
        _column(
            "verdict",
            _TEXT,
            "held (the whole interval lies within the bounds), not held (all of it lies beyond them), "
            "undecided or not judged",
        ),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "plan": PLAN,
    "points": POINTS,
    "runs": RUNS,
    "metrics": METRICS_TABLE,
    "summary": SUMMARY,
    "differences": DIFFERENCES,
    "terms": TERMS,
    "checks": CHECKS,
    "verdicts": VERDICTS,
}
"The pipeline's tables by name; the file of table T in a campaign's folder is tables/T.parquet."
