"""The pipeline's tables: every column with its type, unit and meaning, declared once.

`roamcast.pipeline.reference` generates `docs/tables.md` from this module and `roamcast.lake.columns`.
"""

from __future__ import annotations

import pyarrow as pa

from roamcast.metrics.declarations import METRICS


def _column(name: str, kind: pa.DataType, meaning: str, unit: str = "", null: str = "") -> pa.Field:
    text = f"{meaning}; null: {null}" if null else meaning
    return pa.field(name, kind, nullable=bool(null), metadata={"meaning": text, "unit": unit})


_TEXT, _COUNT, _REAL = pa.string(), pa.int64(), pa.float64()
_RUN = _column("run", _TEXT, "digest of scenario, protocol, parameters, seed and version")
_SWEEP = _column("sweep", _TEXT, "name of the sweep in the campaign")
_POINT = _column("point", _TEXT, "settings of the sweep at this point, as JSON with sorted keys")
_LABEL = _column("protocol", _TEXT, "label of the protocol in the campaign")
_SEED = _column(
    "seed", _COUNT, "seed of the run; all protocols have the same movement and publications under one seed"
)
_METRIC = _column("metric", _TEXT, "name of a column of the metrics table")
_SEEDS = _column("count", _COUNT, "number of seeds with a value")
_TRIALS = _column(
    "trials",
    _REAL,
    "trials per run of which the metric is a share, harmonic mean over seeds",
    "",
    "the metric is no share",
)
_DEVIATION = _column(
    "deviation", _REAL, "standard deviation over seeds", "the metric's", "fewer than two seeds"
)
_HALF = _column("half", _REAL, "half-width of the 95 % interval", "the metric's", "no interval")
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


def _extremes(null: str = "") -> list[pa.Field]:
    return [
        _column("least", _REAL, "minimum over seeds", "the metric's", null),
        _column("most", _REAL, "maximum over seeds", "the metric's", null),
    ]


PLAN = pa.schema(
    [
        _RUN,
        _column("router", _TEXT, "name of the protocol in the catalogue"),
        _column("parameters", _TEXT, "all parameters of the protocol, as JSON"),
        _SEED,
        _column("scenario", _TEXT, "the scenario with the settings of the point, as JSON in SI units"),
        _column("duration", _REAL, "simulated time", "s"),
        _column("warmup", _REAL, "time at the start that the metrics leave out", "s"),
        _column("radio_range", _REAL, "radio range: maximum distance at which a frame is received", "m"),
        _column("header", _COUNT, "header that the network layer adds to each message", "B"),
        _column("nodes", _COUNT, "number of nodes"),
        _column("version", _TEXT, "version of Roamcast, with a digest of the code that affects results"),
        _column("inputs", _TEXT, "digest of the files that the scenario names"),
        _column("command", _TEXT, "command that reproduces this run"),
    ]
)

POINTS = pa.schema([_SWEEP, _POINT, _LABEL, _SEED, _RUN])

RUNS = pa.schema(
    [
        _RUN,
        _column("status", _TEXT, "done, failed or missing"),
        _column("error", _TEXT, "error of a failed run in one line; else empty"),
        _column("wall", _REAL, "elapsed time", "s", "not run"),
        _column("cpu", _REAL, "processor time", "s", "not run"),
        _column("memory", _COUNT, "peak memory", "B", "not run"),
        _column("rows", _COUNT, "number of rows of facts", "", "not done"),
        _column("size", _COUNT, "size of its fact files", "B", "not done"),
    ]
)

METRICS_TABLE = pa.schema(
    [
        _RUN,
        *(
            _column(m.name, _REAL, m.meaning, m.unit, "not defined, because of a division by 0")
            for m in METRICS.values()
        ),
    ]
)

SUMMARY = pa.schema(
    [
        _SWEEP,
        _POINT,
        _LABEL,
        _METRIC,
        _SEEDS,
        _column("mean", _REAL, "mean over seeds", "the metric's"),
        _DEVIATION,
        _TRIALS,
        _HALF,
        *_ENDS,
        *_extremes(),
    ]
)

DIFFERENCES = pa.schema(
    [
        _SWEEP,
        _POINT,
        _METRIC,
        _LABEL,
        _column("other", _TEXT, "the protocol whose value is subtracted, seed by seed"),
        _column("count", _COUNT, "number of seeds with values of both"),
        _column("mean", _REAL, "mean of the differences", "the metric's"),
        _DEVIATION,
        _TRIALS,
        _HALF,
    ]
)

TERMS = pa.schema(
    [
        _column("claim", _TEXT, "key of the claim in the campaign"),
        _column("part", _COUNT, "number of the check within the claim"),
        _SEED,
        _RUN,
        _METRIC,
        _column("above", _REAL, "weight of the value in the check's numerator"),
        _column(
            "below", _REAL, "weight of the value in the check's denominator; 0 in all rows if it has none"
        ),
    ]
)

CHECKS = pa.schema(
    [
        _column("claim", _TEXT, "key of the claim in the campaign"),
        _column("part", _COUNT, "number of the check within the claim"),
        _column("tells", _TEXT, "description of the comparison and its point"),
        _column("terms", _COUNT, "number of values that a seed needs to be counted"),
        _column(
            "divisor",
            _TEXT,
            "none, positive (judged only if its sum over seeds is above 0) or any (not 0)",
        ),
        _column("low", _REAL, "lower bound of the value", "", "no lower bound"),
        _column("high", _REAL, "upper bound of the value", "", "no upper bound"),
        _column("strict", pa.bool_(), "whether a value equal to a bound is outside"),
        _column(
            "scale",
            _TEXT,
            "range of the value: share (0 to 1), amount (0 or more), difference (of shares) or any",
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
            "the simulated value: the mean over seeds, or the quotient of two sums over seeds",
            "",
            "no seed has all values, or the divisor is not positive",
        ),
        _HALF,
        *_ENDS,
        *_extremes("no seed has a value"),
        _column(
            "inside",
            pa.bool_(),
            "whether the simulated value lies within the bounds",
            "",
            "there is no value",
        ),
        _column(
            "verdict",
            _TEXT,
            "held (the whole interval is inside the bounds), not held (all of it is outside), "
            "undecided or not judged",
        ),
    ]
)

LINEAGE = pa.schema(
    [
        _RUN,
        _column("version", _TEXT, "version of the code that simulated the run, with a digest"),
        _column("definitions", _TEXT, "digest of the definitions of all metrics and their constants"),
        _column("measured_by", _TEXT, "version of the code that measured the run, with a digest"),
    ]
)

QUALITY = pa.schema(
    [
        _column("check", _TEXT, "name of the check"),
        _column("meaning", _TEXT, "what holds if the check is passed"),
        _column("sql", _TEXT, "the query that counts violating rows"),
        _column("result", _TEXT, "passed or failed"),
        _column("count", _COUNT, "number of violating rows"),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "plan": PLAN,
    "points": POINTS,
    "runs": RUNS,
    "metrics": METRICS_TABLE,
    "lineage": LINEAGE,
    "summary": SUMMARY,
    "differences": DIFFERENCES,
    "terms": TERMS,
    "checks": CHECKS,
    "verdicts": VERDICTS,
    "quality": QUALITY,
}
"The pipeline's tables by name; the file of table T in a campaign's folder is tables/T.parquet."
