"""The match index against the loop over all filters and against lxml's XPath, in one run.

`python -m bench.match [FILTERS...]`; the loop and lxml are timed on samples, the index on every filter.
Times are of the processor, so that busy neighbours on the machine do not blur the rates.
"""

import gc
import sys
from random import Random
from time import process_time

from lxml import etree
from rich.console import Console
from rich.table import Table

from bench.loads import Realistic, synthetic_event, synthetic_filter
from roamcast.content.match import MatchIndex
from roamcast.content.xml.document import write_xml

EVENTS = 300


def measure(load: str, count: int) -> list[str]:
    r = Random(f"{load}/{count}")
    if load == "synthetic":
        make_filter, make_event = synthetic_filter, synthetic_event
    else:
        realistic = Realistic(1)
        make_filter, make_event = realistic.filter, realistic.event
    filters = [make_filter(r) for _ in range(count)]
    events = [make_event(r) for _ in range(EVENTS)]
    constraints = sum(len(each) for filter in filters for each in filter.conjunctions)
    gc.collect()
    gc.freeze()

    index: MatchIndex[int] = MatchIndex()
    start = process_time()
    for key, filter in enumerate(filters):
        index.add(key, filter)
    added = count / (process_time() - start)

    size = index.bytes() / constraints
    for event in events[:20]:
        index.match(event)
    start = process_time()
    found = [index.match(event) for event in events]
    each = (process_time() - start) / EVENTS
    matched = sum(map(len, found)) / EVENTS / count

    loops = max(2, min(20, 2_000_000 // count))
    for filter in filters:
        filter.matches(events[0])  # compiles it, once
    start = process_time()
    for event, expected in zip(events[:loops], found[:loops], strict=True):
        assert [key for key, filter in enumerate(filters) if filter.matches(event)] == sorted(expected)
    loop = (process_time() - start) / loops

    sample = filters[:1000]
    xpaths = [etree.XPath(str(filter)) for filter in sample]
    documents = [etree.fromstring(write_xml(event)).getroottree() for event in events[:10]]
    start = process_time()
    for document in documents:
        for xpath in xpaths:
            xpath(document)
    lxml = (process_time() - start) / len(documents) / len(sample) * count

    keys = list(range(count))
    r.shuffle(keys)
    leaving = keys[: min(count, 200_000)]
    start = process_time()
    for key in leaving:
        index.remove(key)
    removed = len(leaving) / (process_time() - start)
    start = process_time()
    for key in leaving:
        index.add(key, filters[key])
    again = len(leaving) / (process_time() - start)
    gc.unfreeze()
    return [
        load,
        f"{count:,}",
        f"{matched:.3%}",
        f"{1 / each:,.0f}",
        f"{loop / each:,.0f} x",
        f"{lxml / each:,.0f} x",
        f"{size:.0f} B",
        f"{added:,.0f}",
        f"{removed:,.0f}",
        f"{again:,.0f}",
    ]


def main(counts: tuple[int, ...] = (1_000, 100_000, 1_000_000)) -> None:
    table = Table(title="match index")
    for column in (
        "load",
        "filters",
        "matched",
        "events/s",
        "vs loop",
        "vs lxml XPath",
        "per constraint",
        "adds/s",
        "removes/s",
        "re-adds/s",
    ):
        table.add_column(column, justify="right")
    for load in ("synthetic", "realistic"):
        for count in counts:
            table.add_row(*measure(load, count))
    Console(width=140).print(table)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or (1_000, 100_000, 1_000_000))
