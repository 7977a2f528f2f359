"""Covering and intersection against their definition: every event of a small world is asked."""

import itertools
from datetime import date
from random import Random

import pytest

from roamcast.content.box.range_set import after, before
from roamcast.content.event import Event
from roamcast.content.field_type import Boolean, Date, Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.printer import quote
from roamcast.content.schema import EventType, Field

from . import generate

SMALL = {
    "i": Integer(0, 4),
    "e": Enumeration.of("p", "q", "r"),
    "b": Boolean(),
    "w": Date(date(2005, 1, 1), date(2005, 1, 4)),
    "i/@u": Enumeration.of("p", "q"),
    "d": Decimal(0, 2),
}
ENDS = {
    "i": ["-1", "0", "1", "2", "2.5", "3", "4", "5"],
    "w": [f'"2005-01-0{n}"' for n in range(1, 6)] + ['"2004-12-31"'],
    "e": ['"p"', '"q"', '"r"'],
    "b": ['"true"', '"false"'],
    "i/@u": ['"p"', '"q"'],
    "d": ["-0", "0", "0.5", "1", '"2"', "3"],
}
# Constraints on the decimal begin and end at these, so one value on each side stands for all.
DECIMALS = sorted({0.25, *(near(at) for at in (0.0, 0.5, 1.0, 2.0) for near in (float, before, after))})


def some_type(r):
    paths = [path for path in SMALL if r.random() < 0.5]
    if "i/@u" in paths and "i" not in paths:
        paths.remove("i/@u")
    optional = {path for path in paths if r.random() < 0.5}
    if "i" in optional:
        optional.add("i/@u")
    return EventType("T", tuple(Field(path, SMALL[path], path in optional) for path in paths[:3]))


def all_events(type):
    values = []
    for field in type.fields:
        low, high = field.kind.bounds()
        plain = [d for d in DECIMALS if 0 <= d <= 2] if field.path == "d" else range(low, high + 1)
        values.append([*plain, *[None] * field.optional])
    found = [list(each) for each in itertools.product(*values)]
    return list(dict.fromkeys(generate.whole(type, each) for each in found))


def constraint(r, type):
    field = r.choice(type.fields)
    roll = r.random()
    if roll < 0.1:
        text = field.path
    elif field.kind.name == "enumeration" and roll < 0.3:
        text = f'{r.choice(["starts-with", "ends-with", "contains"])}({field.path}, "{r.choice("pqr")}")'
    else:
        operators = ["=", "!=", "<", "<=", ">", ">="] if field.kind.ordered else ["=", "!="]
        text = f"{field.path}{r.choice(operators)}{r.choice(ENDS[field.path])}"
    return f"not({text})" if r.random() < 0.2 else text


def conjunction(r, type, draw):
    """One alternative of a subscription, which `not()` may have split."""
    text = " and ".join(draw(r, type) for _ in range(r.randint(1, 3))) if type.fields else "true()"
    found = Filter.parse(f"/T[{text}]", type).conjunctions
    return Filter(type, (r.choice(found),)) if found else Filter.nothing(type)


def check(a, b, events, beyond=()):
    """Every relation of two filters is what the events say: all there are, with those `beyond`."""
    events = [*events, *beyond]
    wanted_a = {event for event in events if a.matches(event)}
    wanted_b = {event for event in events if b.matches(event)}
    text = (str(a), str(b))
    assert a.covers(b) == (wanted_b <= wanted_a), text
    assert a.intersects(b) == bool(wanted_a & wanted_b), text
    assert a.equivalent(b) == (wanted_a == wanted_b), text
    assert {event for event in events if a.merge(b).matches(event)} == wanted_a | wanted_b, text
    for found, expected in ((a.example(), wanted_a), (a.counterexample(), set(events) - wanted_a)):
        assert (found is not None) == bool(expected), text
        assert found is None or a.matches(found) == (expected is wanted_a), (text, found)
    if a == b:
        assert hash(a) == hash(b)
        assert a.to_bytes() == b.to_bytes()
    return bool(wanted_b) and wanted_b <= wanted_a


def check_some(seed, count):
    r = Random(f"exact/{seed}")
    covered = 0
    for _ in range(count):
        type = some_type(r)
        events = all_events(type)
        for _ in range(6):
            a, b = (conjunction(r, type, constraint) for _ in range(2))
            covered += check(a, b, events)
            more = conjunction(r, type, constraint)
            check(a | more, (a & b) if r.random() < 0.4 else b | more, events)
    assert covered > count / 4


SOME_TEXT = EventType("T", (Field("s", String(), True),))
SHORT = [None, *("".join(w) for n in range(6) for w in itertools.product("abx", repeat=n))]
SHORT_TEXTS = [Event(SOME_TEXT, (word,)) for word in SHORT]
WORDS = ["", "a", "b", "ab", "ba", "aa"]


def text_constraint(r, type):
    roll = r.random()
    if roll < 0.1:
        text = "s"
    elif roll < 0.5:
        star = r.choice([r.choice(WORDS), f"{r.choice(WORDS)}*{r.choice(WORDS)}", f"a*{r.choice(WORDS)}*b"])
        text = f"s{r.choice(['=', '!='])}{quote(star)}"
    else:
        text = f"{r.choice(['starts-with', 'ends-with', 'contains'])}(s, {quote(r.choice(WORDS))})"
    return f"not({text})" if r.random() < 0.35 else text


def check_some_texts(seed, count):
    """Strings are endless; a witness that is longer must be shown, and is then one of the events."""
    r = Random(f"exact texts/{seed}")
    covered = 0
    for _ in range(count):
        a, b = (conjunction(r, SOME_TEXT, text_constraint) for _ in range(2))
        longer = [(a & b).example(), (b & ~a).example(), (a & ~b).example()]
        covered += check(a, b, SHORT_TEXTS, [event for event in longer if event is not None])
    assert covered > count / 20


@pytest.mark.parametrize("seed", range(3))
def test_relations_are_exact_where_all_events_can_be_asked(seed):
    check_some(seed, 100)


@pytest.mark.parametrize("seed", range(2))
def test_relations_are_exact_for_short_patterns(seed):
    check_some_texts(seed, 200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_relations_are_exact_at_length(seed):
    check_some(seed, 600)
    check_some_texts(seed, 400)


def test_open_bounds_around_one_integer_are_that_integer():
    type = EventType("T", {"n": Integer()})
    assert Filter.parse("/T[n>3 and n<5]", type) == Filter.parse("/T[n=4]", type)
    assert not Filter.parse("/T[n>3 and n<4]", type).conjunctions


def test_an_attribute_needs_its_element():
    type = EventType("T", {"p": Decimal(), "p/@u": String()}, optional=("p", "p/@u"))
    priced, in_euro = Filter.parse("/T[p]", type), Filter.parse('/T[p/@u="EUR"]', type)
    assert priced.covers(in_euro)
    assert not Filter.parse("/T[not(p)]", type).intersects(in_euro)
    assert Filter.parse("/T[not(p) and p/@u]", type).empty
    assert str(in_euro) == '/T[p/@u="EUR"]'
    assert str(Filter.parse("/T[not(p)]", type)) == "/T[not(p)]"
    assert type.p.exists() == priced
    assert (~priced).example().to_mapping() == {}


def test_zero_has_no_sign_in_a_filter():
    type = EventType("T", {"d": Decimal()})
    for one, other in (("not(d<0)", "d>=0"), ("d=-0", "d=0"), ("not(d>0)", "d<=-0")):
        a, b = Filter.parse(f"/T[{one}]", type), Filter.parse(f"/T[{other}]", type)
        assert a == b
        assert hash(a) == hash(b)
        assert a.to_bytes() == b.to_bytes()
        assert repr(a.conjunctions) == repr(b.conjunctions)


def test_a_counterexample_of_many_alternatives_is_found_without_writing_out_their_complement():
    type = EventType("T", {f"n{n}": Integer() for n in range(40)})
    text = " | ".join(f"/T[n{2 * n}=0 and n{2 * n + 1}=0]" for n in range(20))
    wanted = Filter.parse(text, type)
    assert wanted.matches(wanted.example())
    assert not wanted.matches(wanted.counterexample())
    assert not wanted.covers(Filter.everything(type))
