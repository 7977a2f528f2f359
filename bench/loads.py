"""Filters and events to match: a synthetic load, and one as people would make it."""

from bisect import bisect
from itertools import accumulate
from random import Random

from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.event import Event
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType

SYNTHETIC = EventType(
    "Reading", {f"c{n}": Integer(0, 9) for n in range(5)} | {f"x{n}": Decimal(0, 1) for n in range(5)}
)
QUOTE = EventType(
    "Quote",
    {
        "@symbol": String(),
        "exchange": Enumeration(tuple(f"X{n}" for n in range(20))),
        "sector": Enumeration(tuple(f"S{n}" for n in range(12))),
        "price": Decimal(0),
        "volume": Integer(0),
        "news/author": String(),
        "news/headline": String(),
    },
    optional=("news/author", "news/headline"),
)
WORDS = [
    f"{a}{b}{c}"
    for a in ("ba", "ke", "lo", "mi", "su")
    for b in ("ra", "to", "ne")
    for c in ("", "n", "x", "ly")
]


def synthetic_filter(r: Random) -> Filter:
    """Three of: equality on a code of ten values, range of a tenth; or two ranges of a 31st. Always 0.1 %."""
    shape = r.choice(("err", "rrr", "eer", "ss"))
    codes = r.sample(range(5), shape.count("e"))
    spans = r.sample(range(5, 10), len(shape) - len(codes))
    parts: list[tuple[int, RangeSet]] = []
    for place in codes:
        code = r.randrange(10)
        parts.append((place, RangeSet(((code, code),))))
    width = 0.1 if "r" in shape else 0.001**0.5
    for place in spans:
        low = r.random() * (1 - width)
        parts.append((place, RangeSet(((low, low + width),))))
    return Filter(SYNTHETIC, (tuple(sorted(parts, key=lambda part: part[0])),))


def synthetic_event(r: Random) -> Event:
    """Uniform in every field."""
    return Event(SYNTHETIC, (*(r.randrange(10) for _ in range(5)), *(r.random() for _ in range(5))))


class Zipf:
    """Ranks from 0, the n-th with weight 1/n."""

    def __init__(self, count: int) -> None:
        self.sums = list(accumulate(1 / n for n in range(1, count + 1)))

    def draw(self, r: Random) -> int:
        return bisect(self.sums, r.random() * self.sums[-1])


class Realistic:
    """Quotes and news: Zipf over symbols and words; a fifth of the subscribers share 100 popular filters."""

    def __init__(self, seed: int) -> None:
        self.symbols = Zipf(5000)
        self.words = Zipf(len(WORDS))
        self.popularity = Zipf(100)
        r = Random(f"popular/{seed}")
        self.popular = [self._fresh(r) for _ in range(100)]

    def filter(self, r: Random) -> Filter:
        if r.random() < 0.2:
            return self.popular[self.popularity.draw(r)]
        return self._fresh(r)

    def _fresh(self, r: Random) -> Filter:
        symbol = (0, StringSet((f"SYM{self.symbols.draw(r)}",)))
        roll = r.random()
        if roll < 0.25:
            parts = [symbol]
        elif roll < 0.6:
            price = round(r.lognormvariate(3, 1), 2)
            top = QUOTE.everything[3].spans[0][1]
            parts = [symbol, (3, RangeSet(((0.0, price),) if r.random() < 0.5 else ((price, top),)))]
        elif roll < 0.75:
            exchange, volume = r.randrange(20), int(r.lognormvariate(9, 1.5))
            parts = [(1, RangeSet(((exchange, exchange),))), (4, RangeSet(((volume, 2**63 - 1),)))]
        elif roll < 0.85:
            parts = [
                (2, RangeSet(((r.randrange(12),) * 2,))),
                (5, StringSet.where([(WORDS[self.words.draw(r)][:4], "")])),
            ]
        elif roll < 0.9:
            parts = [symbol, (6, StringSet.where([("", WORDS[self.words.draw(r)], "")]))]
        else:
            low = round(r.lognormvariate(3, 1), 2)
            sector = r.randrange(12)
            parts = [(2, RangeSet(((sector, sector),))), (3, RangeSet(((low, low * 1.1),)))]
        return Filter(QUOTE, (tuple(parts),))

    def event(self, r: Random) -> Event:
        author = headline = None
        if r.random() < 0.5:
            author = WORDS[self.words.draw(r)] + WORDS[self.words.draw(r)]
            headline = " ".join(WORDS[self.words.draw(r)] for _ in range(6))
        price, volume = round(r.lognormvariate(3, 1), 2), int(r.lognormvariate(9, 1.5))
        values = (
            f"SYM{self.symbols.draw(r)}",
            r.randrange(20),
            r.randrange(12),
            price,
            volume,
            author,
            headline,
        )
        return Event(QUOTE, values)
