"""The paper's claim: turning an event into its digest costs the same up to 200 nested elements.

Also what more values cost, and the measured rate of a summary's false positives beside the formula's.
Draws build/bench/digest.png.
"""

from math import log
from pathlib import Path
from random import Random
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.loads import Realistic
from roamcast.content.box.string_set import StringSet
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.summary.fitting import within
from roamcast.content.xml.document import read_xml, write_xml

DEPTHS = [1, 2, 5, 10, 20, 50, 100, 150, 200]
KINDS = (Integer(), Decimal(), String(), Enumeration(("pop", "jazz")))


def nested(depth: int) -> Event:
    """Four values at the bottom of `depth` nested elements."""
    below = "/".join(f"e{n}" for n in range(depth - 1))
    paths = [f"{below}/v{n}" if below else f"v{n}" for n in range(4)]
    type = EventType("Deep", dict(zip(paths, KINDS, strict=True)))
    return type(dict(zip(paths, (5, 2.5, "Davis", "jazz"), strict=True)))


def wide(count: int) -> Event:
    """So many elements with a value each."""
    type = EventType("Wide", {f"v{n}": KINDS[n % 4] for n in range(count)})
    return type({f"v{n}": (5, 2.5, "Davis", "jazz")[n % 4] for n in range(count)})


def timed(action, *args) -> float:
    """Microseconds a call, the best of a few rounds."""
    best = float("inf")
    for _ in range(7):
        start = process_time()
        for _ in range(200):
            action(*args)
        best = min(best, (process_time() - start) / 200)
    return best * 1e6


def conversion(event: Event) -> tuple[float, float]:
    document = write_xml(event)
    return (
        timed(lambda: EventDigest.of(event).to_bytes()),
        timed(lambda: EventDigest.of(read_xml(document, event.type)).to_bytes()),
    )


def false_positives(
    elements: int, shape: BloomShape, summaries: int = 40, trials: int = 100
) -> tuple[float, float]:
    """Measured and expected share of strangers that summaries of so many words admit."""
    type = EventType("Word", {"s": String()})
    r = Random(elements)
    wrong = lookups = 0
    for _ in range(summaries):
        members = [f"{r.getrandbits(48):012x}" for _ in range(elements)]
        summary = Summary.of([Filter(type, (((0, StringSet((word,))),),)) for word in members], shape)
        for _ in range(trials):
            digest = EventDigest.of(Event(type, (f"{r.getrandbits(48):012x}",)))
            wrong += summary.admits(digest)
            lookups += 1  # among whole words only the whole string is looked up
    count = summaries * trials
    return wrong / count, 1 - (1 - shape.rate(elements)) ** (lookups / count)


def told_in(elements: int, most_bytes: int, trials: int = 400) -> tuple[int, float, float, float]:
    """What a summary of so many words takes and wrongly admits, and what a Bloom filter and any set must.

    The last two are of the whole budget: n log2(1/e) / 0.69 bits of the one, n log2(1/e) of the other.
    """
    type = EventType("Word", {"s": String()})
    r = Random(elements)
    words = [f"{r.getrandbits(48):012x}" for _ in range(elements)]
    summary = within([Filter(type, (((0, StringSet((word,))),),)) for word in words], most_bytes)
    strangers = [EventDigest.of(Event(type, (f"{r.getrandbits(48):012x}",))) for _ in range(trials)]
    each = 8 * most_bytes / elements
    bloom, any_set = (2.0 ** -(each * share) for share in (log(2), 1.0))
    return len(summary.to_bytes()), sum(map(summary.admits, strangers)) / trials, bloom, any_set


def realistic(count: int, most_bytes: int, trials: int = 4_000) -> tuple[int, float, float, float]:
    """Bytes of a summary of realistic subscriptions, how many events nobody wants, what gets in, and a limit.

    The limit is that of a set of as many things of which an event is one or is not: log2(1/e) bits for each.
    """
    load, r = Realistic(3), Random(7)
    filters = [load.filter(r) for _ in range(count)]
    summary = within(filters, most_bytes)
    events = [load.event(r) for _ in range(trials)]
    unwanted = [event for event in events if not any(each.matches(event) for each in filters)]
    return (
        len(summary.to_bytes()),
        len(unwanted) / trials,
        sum(map(summary.admits, unwanted)) / max(len(unwanted), 1),
        2.0 ** -(8 * most_bytes / len({box for each in filters for box in each.conjunctions})),
    )


def show_budgets(console: Console) -> None:
    """Print false positives by bytes, beside the limits."""
    table = Table(title="words told in a number of bytes: false positives of an event")
    for column in ("words", "at most (B)", "taken (B)", "measured", "Bloom's limit", "any set's limit"):
        table.add_column(column, justify="right")
    for elements, most_bytes in ((50, 128), (50, 256), (200, 512), (200, 1024), (1000, 1400)):
        taken, *rates = told_in(elements, most_bytes)
        table.add_row(str(elements), str(most_bytes), str(taken), *(f"{rate:.2%}" for rate in rates))
    console.print(table)
    table = Table(title="realistic subscriptions told in a number of bytes")
    for column in (
        "subscriptions",
        "at most (B)",
        "taken (B)",
        "events unwanted",
        "of these admitted",
        "a set's limit",
    ):
        table.add_column(column, justify="right")
    for count, most_bytes in (
        (50, 128),
        (50, 256),
        (50, 616),
        (200, 512),
        (200, 1024),
        (1000, 1400),
        (1000, 4096),
    ):
        taken, *rates = realistic(count, most_bytes)
        table.add_row(str(count), str(most_bytes), str(taken), *(f"{100 * rate:.2g} %" for rate in rates))
    console.print(table)


def main() -> None:
    deep = {depth: conversion(nested(depth)) for depth in DEPTHS}
    broad = {count: conversion(wide(count)) for count in DEPTHS}
    table = Table(title="event to digest, microseconds")
    for column in ("elements", "nested: event", "nested: from XML", "side by side: event", "from XML"):
        table.add_column(column, justify="right")
    for n in DEPTHS:
        table.add_row(str(n), *(f"{value:.1f}" for value in (*deep[n], *broad[n])))
    console = Console(width=120)
    console.print(table)
    console.print(f"depth 200 against depth 1: {deep[200][0] / deep[1][0]:.2f} x for an event, ", end="")
    console.print(f"{deep[200][1] / deep[1][1]:.2f} x from XML")
    held = "held" if deep[200][0] < 1.2 * deep[1][0] else "not held"
    console.print(f"the claim that conversion costs the same up to 200 nested elements: {held} for an event")
    rates = Table(title="false positives of a string constraint (SC)")
    for column in (
        "words",
        "bits",
        "hashes",
        "one lookup, formula",
        "an event, formula",
        "an event, measured",
    ):
        rates.add_column(column, justify="right")
    for elements, rate in ((20, 0.01), (50, 0.001), (100, 0.001), (200, 0.0001), (200, 0.01)):
        shape = BloomShape.for_rate(elements, rate)
        measured, expected = false_positives(elements, shape)
        cells = (f"{shape.rate(elements):.4%}", f"{expected:.3%}", f"{measured:.3%}")
        rates.add_row(str(elements), str(shape.bits), str(shape.hashes), *cells)
    console.print(rates)
    show_budgets(console)
    draw(deep, broad)


def draw(deep: dict[int, tuple[float, float]], broad: dict[int, tuple[float, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    axes.plot(DEPTHS, [deep[n][0] for n in DEPTHS], marker="o", label="nested, from an event")
    axes.plot(DEPTHS, [deep[n][1] for n in DEPTHS], marker="s", label="nested, from XML")
    axes.plot(DEPTHS, [broad[n][0] for n in DEPTHS], marker="^", label="side by side, from an event")
    axes.set(xlabel="elements", ylabel="microseconds", title="Event to digest", yscale="log")
    axes.legend()
    path = Path("build/bench/digest.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    print(f"drawn: {path}")


if __name__ == "__main__":
    main()
