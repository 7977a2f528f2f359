"""Alerts, whose elements repeat, against many subscriptions: the match index, the loop, and DuckDB joining.

`python -m bench.alerts [FILTERS]`. DuckDB gets a batch of all events, their records laid out as rows in
memory. It joins them with a row for each constraint, which takes whatever people subscribe to, and with a
table for each shape of subscription by a hash join written for it, which knows beforehand what they ask.
Times are of the processor, DuckDB's on one thread.
"""

import sys
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from bench.loads import Zipf
from roamcast.content.event import Event
from roamcast.content.filter import Filter
from roamcast.content.match import MatchIndex
from roamcast.content.xml.xsd import XmlSchema

EVENTS = 300
KINDS, REGIONS, SENDERS = Zipf(400), Zipf(1500), Zipf(500)
SCHEMA = XmlSchema.load(Path(__file__).parents[1] / "scenarios/cap/cap-1.2.xsd")
ALERT = SCHEMA.type("alert")
INFO = ALERT.record("info")
SEVERITY, URGENCY, CATEGORY = (
    ("Extreme", "Severe", "Moderate", "Minor", "Unknown"),
    ("Immediate", "Expected", "Future", "Past", "Unknown"),
    ("Geo", "Met", "Safety", "Security", "Rescue", "Fire", "Health", "Env", "Transport", "Infra"),
)
SHAPES = {
    "kind": '/alert[info[event="{kind}" and severity="{severity}"]]',
    "region": '/alert[info[category="{category}" and area/geocode[valueName="NUTS" and value="{region}"]]]',
    "sender": '/alert[sender="{sender}" and info[urgency="{urgency}"]]',
}
FIELDS = {"kind": ("kind", "severity"), "region": ("category", "region"), "sender": ("sender", "urgency")}


def subscription(r: Random) -> dict[str, str]:
    """What somebody wants, as words."""
    words = {
        "kind": f"kind {KINDS.draw(r)}",
        "severity": r.choice(SEVERITY),
        "category": r.choice(CATEGORY),
        "region": f"R{REGIONS.draw(r)}",
        "sender": f"s{SENDERS.draw(r)}@example.org",
        "urgency": r.choice(URGENCY),
    }
    return {"shape": r.choices(list(SHAPES), (5, 3, 2))[0], **words}


def alert(r: Random, number: int) -> Event:
    """One to three parts in as many languages or regions, each with a few areas."""
    parts = [
        {
            "category": r.sample(CATEGORY, r.choice((1, 1, 2))),
            "event": f"kind {KINDS.draw(r)}",
            "urgency": r.choice(URGENCY),
            "severity": r.choice(SEVERITY),
            "certainty": "Likely",
            "area": [
                {"areaDesc": "an area", "geocode": [{"valueName": "NUTS", "value": f"R{REGIONS.draw(r)}"}]}
                for _ in range(r.randint(1, 3))
            ],
        }
        for _ in range(r.randint(1, 3))
    ]
    return ALERT(
        identifier=f"a{number}",
        sender=f"s{SENDERS.draw(r)}@example.org",
        sent="2026-11-16T06:00:00Z",
        status="Actual",
        msgType="Alert",
        scope="Public",
        info=parts,
    )


def rows(events: list[Event]) -> Any:
    """Every combination of an alert's records, a row each."""
    return pd.DataFrame(
        [
            (n, event["sender"], info["event"], info["severity"], info["urgency"], category, code["value"])
            for n, event in enumerate(events)
            for info in event["info"]
            for category in info["category"]
            for area in info["area"]
            for code in area["geocode"]
        ],
        columns=["event", "sender", "kind", "severity", "urgency", "category", "region"],
    )


Found = set[tuple[int, int]]


def connect(wanted: list[dict[str, str]]) -> Any:
    """A database of the subscriptions, or None where DuckDB is not installed."""
    try:
        import duckdb
    except ImportError:
        return None
    base = duckdb.connect(config={"threads": 1})
    base.register("given", pd.DataFrame(wanted).assign(number=range(len(wanted))))
    for shape in SHAPES:
        base.execute(f"CREATE TABLE {shape} AS SELECT * FROM given WHERE shape = '{shape}'")
    parts = [
        f"SELECT number, '{field}' AS field, {field} AS value FROM {shape}"
        for shape, fields in FIELDS.items()
        for field in fields
    ]
    base.execute(f"CREATE TABLE constraints AS {' UNION ALL '.join(parts)}")
    return base


def join_shapes(base: Any, events: list[Event]) -> tuple[float, Found]:
    """Seconds for the batch with a join for each shape, and the pairs that are found."""
    start = process_time()
    base.register("laid_out", rows(events))
    base.execute("CREATE OR REPLACE TABLE e AS SELECT * FROM laid_out")
    joins = [
        f"SELECT e.event, f.number FROM e JOIN {shape} f ON {' AND '.join(f'e.{x} = f.{x}' for x in fields)}"
        for shape, fields in FIELDS.items()
    ]
    found = base.execute(" UNION ".join(joins)).fetchall()
    return process_time() - start, set(found)


def join_constraints(base: Any, events: list[Event]) -> tuple[float, Found]:
    """Seconds for the batch with a row for each constraint; one row must meet all of a filter's."""
    start = process_time()
    laid_out = rows(events)
    base.register("laid_out", laid_out.assign(line=range(len(laid_out))))
    fields = sorted({field for several in FIELDS.values() for field in several})
    values = [f"SELECT line, event, '{field}' AS field, {field} AS value FROM laid_out" for field in fields]
    base.execute(f"CREATE OR REPLACE TABLE v AS {' UNION ALL '.join(values)}")
    found = base.execute(
        "SELECT DISTINCT v.event, c.number"
        " FROM v JOIN constraints c ON v.field = c.field AND v.value = c.value"
        " GROUP BY v.line, v.event, c.number HAVING count(*) = 2"
    ).fetchall()
    return process_time() - start, set(found)


def main(count: int = 100_000) -> None:
    r = Random(f"alerts/{count}")
    wanted = [subscription(r) for _ in range(count)]
    known: dict[str, Filter] = {}
    filters: list[Filter] = []
    for words in wanted:
        text = SHAPES[words["shape"]].format(**words)
        if text not in known:
            known[text] = Filter.parse(text, ALERT)
        filters.append(known[text])
    events = [alert(r, number) for number in range(EVENTS)]
    index: MatchIndex[int] = MatchIndex()
    start = process_time()
    for number, filter in enumerate(filters):
        index.add(number, filter)
    added = count / (process_time() - start)
    for filter in filters:
        filter.test()  # compiles it, once
    for event in events[:20]:
        index.match(event)
    start = process_time()
    found = [index.match(event) for event in events]
    each = (process_time() - start) / EVENTS
    loops = max(2, min(20, 1_000_000 // count))
    start = process_time()
    for event, expected in zip(events[:loops], found, strict=False):
        assert [n for n, filter in enumerate(filters) if filter.matches(event)] == sorted(expected)
    loop = (process_time() - start) / loops
    base = connect(wanted)
    seconds = []
    for join in (join_constraints, join_shapes) if base is not None else ():
        took, pairs = join(base, events)
        assert pairs == {(n, number) for n, numbers in enumerate(found) for number in numbers}
        seconds.append(f"{took / EVENTS / each:,.1f} x")
    table = Table(title="alerts with repeated elements")
    for column in ("filters", "matched", "events/s", "vs loop", "vs DuckDB", "vs DuckDB by shape", "adds/s"):
        table.add_column(column, justify="right")
    table.add_row(
        f"{count:,}",
        f"{sum(map(len, found)) / EVENTS / count:.3%}",
        f"{1 / each:,.0f}",
        f"{loop / each:,.0f} x",
        *(seconds or ("not installed",) * 2),
        f"{added:,.0f}",
    )
    Console(width=120).print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
