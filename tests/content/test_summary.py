"""A summary never says no wrongly; how often it says yes wrongly follows the formula."""

from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.loads import Realistic
from roamcast.content.box.range_set import after, before
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.field_type import Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.content.summary import BloomShape, EventDigest, Summary
from roamcast.content.summary.bloom import stable_hash
from roamcast.content.summary.codec import encode, length
from roamcast.content.summary.digest import hash_whole
from roamcast.content.summary.fitting import SummaryFitter, within
from roamcast.content.summary.summary import MAX_ROWS

from . import generate
from .test_figures import CD, wanted

randoms = st.randoms(use_true_random=False)
laws = settings(max_examples=150, deadline=None)


@laws
@given(randoms)
def test_a_summary_never_says_no_wrongly_however_it_is_made(r):
    types = [generate.any_type(r), generate.any_type(r)]
    filters = [generate.filter(r, r.choice(types)) for _ in range(r.randint(1, 8))]
    shape = r.choice([BloomShape(), BloomShape(64, 2), BloomShape(1, 1)])
    halves = Summary.of(filters[::2], shape).merge(Summary.of(filters[1::2], shape))
    summary = Summary.of(filters, shape)
    coarse = summary
    for _ in range(r.randint(1, 4)):
        coarse = coarse.coarser()
    apart = Summary.of(filters, shape, apart=True)
    summaries = [summary, halves, Summary.from_bytes(summary.to_bytes()), coarse, apart, apart.coarser()]
    summaries += [apart.merge(summary), *([within(filters, 2000)] if r.random() < 0.1 else [])]
    for filter in filters:
        event = generate.near(r, filter.type, filter)
        digest = EventDigest.from_bytes(EventDigest.of(event).to_bytes())
        if filter.matches(event):
            assert all(each.admits(digest) for each in summaries)


@laws
@given(randoms)
def test_without_strings_and_with_one_row_a_summary_of_one_conjunction_is_exact(r):
    type = generate.event_type(r)
    filter = generate.filter(r, type)
    if len(filter.conjunctions) == 1 and not any(
        type.fields[p].kind.name == "string" for p, _ in filter.conjunctions[0]
    ):
        event = generate.near(r, type, filter)
        assert Summary.of([filter]).admits(event) == filter.matches(event)


@laws
@given(randoms, st.binary(max_size=80))
def test_bytes_are_a_summary_written_one_way_or_refused(r, noise):
    type = generate.event_type(r)
    data = bytearray(Summary.of([generate.filter(r, type)], BloomShape(40, 2)).to_bytes())
    digest = bytearray(EventDigest.of(generate.event(r, type)).to_bytes())
    for changed in (data, digest):
        for _ in range(r.randint(0, 3)):
            changed[r.randrange(len(changed))] = r.randrange(256)
    for attempt in (bytes(data), bytes(data)[: r.randint(0, len(data))], noise):
        with suppress(CodecError):
            assert Summary.from_bytes(attempt).to_bytes() == attempt
    for attempt in (bytes(digest), bytes(digest)[: r.randint(0, len(digest))], noise):
        try:
            read = EventDigest.from_bytes(attempt)
        except CodecError:
            continue
        assert read.to_bytes() == attempt
        Summary.of([generate.filter(r, type)]).admits(read)


def test_bytes_stay_within_any_limit_and_only_admit_more():
    r = Random(3)
    type = EventType("T", tuple(generate.Field(f"f{n}", r.choice(generate.KINDS)) for n in range(12)))
    filters = []
    while len(filters) < 300:
        filter = generate.filter(r, type)
        if not filter.empty:
            filters.append(filter)
    summary = Summary.of(filters)
    assert len(summary.rows[type.fingerprint]) <= MAX_ROWS
    events = [generate.near(r, type, r.choice(filters)) for _ in range(100)]
    for limit in (1400, 300, 60, 40):
        data = summary.to_bytes(limit)
        assert len(data) <= limit
        small = Summary.from_bytes(data)
        for event in events:
            assert small.admits(event) or not summary.admits(event)
    with pytest.raises(ContentError, match="does not fit"):
        summary.to_bytes(10)


def test_hashes_are_the_same_on_every_machine():
    assert stable_hash("=", "jazz") == 3370309152
    assert BloomShape(384, 4).mask(hash_whole("jazz")).bit_count() <= 4


@pytest.mark.parametrize(("elements", "rate"), [(50, 0.1), (100, 0.02), (400, 0.005)])
def test_the_measured_rate_of_a_bloom_filter_is_the_formulas(elements, rate):
    shape = BloomShape.for_rate(elements, rate)
    bits = 0
    for n in range(elements):
        bits |= shape.mask(hash_whole(f"member {n}"))
    trials = 40_000
    wrong = sum(
        bits & mask == mask for mask in (shape.mask(hash_whole(f"stranger {n}")) for n in range(trials))
    )
    expected = shape.rate(elements)
    assert expected == pytest.approx(rate, rel=0.1)
    deviation = (expected / trials) ** 0.5
    # A filter's own rate scatters about the formula's, as its number of set bits does.
    assert abs(wrong / trials - expected) < 5 * deviation + 0.2 * expected


def test_shapes_must_agree():
    with pytest.raises(ContentError, match="different Bloom filters"):
        Summary.of([], BloomShape(64, 2)).merge(Summary.of([]))
    with pytest.raises(ContentError):
        BloomShape.for_rate(0, 0.1)


def test_figure_6_the_association_list_of_subscriptions_1_to_3():
    def fields(*numbers):
        return [sorted(row) for row in Summary.of([wanted(n) for n in numbers]).rows[CD.fingerprint]]

    assert [fields(n) for n in (1, 2, 3)] == [[[2, 4]], [[2, 3]], [[2, 4]]]
    assert fields(1, 2, 3) == [[2, 3], [2, 4]]


def test_figure_7_the_arithmetic_constraint_of_price():
    summary = Summary.of([wanted(n) for n in (1, 2, 3)])
    [row] = [row for row in summary.rows[CD.fingerprint] if CD.index("price") in row]
    assert row[CD.index("price")].spans == ((after(10.0), before(20.0)),)
    more = Summary.of([wanted(1), wanted(3), (CD.category == "jazz") & (CD.price == 42)])
    [row] = more.rows[CD.fingerprint]
    assert row[CD.index("price")].spans[-1] == (42.0, 42.0)


def test_stars_prefixes_suffixes_and_words_are_told_apart():
    names = ["Davis", "Dizzy", "Evans", "vis", "Da", "sivaD"]

    def admitted(filter):
        summary = Summary.of([filter], BloomShape(4096, 6))
        return [n for n in names if summary.admits(CD(category="jazz", composer=n, price=12))]

    assert admitted(CD.composer.like("D*s")) == ["Davis"]
    assert admitted(CD.composer.startswith("D")) == ["Davis", "Dizzy", "Da"]
    assert admitted(CD.composer.endswith("vis")) == ["Davis", "vis"]
    assert admitted(CD.composer == "Da") == ["Da"]
    assert admitted(CD.composer.contains("i")) == names
    assert admitted(CD.composer != "Da") == names


def test_an_unknown_type_and_a_misfit_are_not_admitted():
    summary = Summary.of([Filter.everything(CD)])
    assert summary.admits(CD(category="jazz", composer="x", price=12))
    assert not summary.admits(EventType("Other", {})())
    assert not summary.admits(EventDigest(CD.fingerprint, (1,)))
    assert not summary.admits(EventDigest(CD.fingerprint, ("x", None, 0, 0, 0)))


def test_a_stranger_that_claims_our_type_with_other_fields_is_refused():
    ours = Summary.of([wanted(1)])
    stranger = Summary.of([EventType("CD", {"a": generate.String(), "b": generate.Integer()}).b < 3])
    [name] = stranger.rows
    data = stranger.to_bytes().replace(name, CD.fingerprint)
    for one, other in ((ours, Summary.from_bytes(data)), (Summary.from_bytes(data), ours)):
        with pytest.raises(ContentError, match="disagree on the fields"):
            one.merge(other)
    assert not Summary.from_bytes(data).admits(wanted(1).example())


@settings(max_examples=40, deadline=None)
@given(randoms)
def test_folding_gives_what_half_as_many_bits_would_have_given(r):
    type = generate.event_type(r)
    filters = [generate.filter(r, type) for _ in range(r.randint(1, 6))]
    large, small = Summary.of(filters, BloomShape(256, 3)), Summary.of(filters, BloomShape(128, 3))
    assert large.folded() == small
    assert large.merge(small) == small.merge(large) == small
    with pytest.raises(ContentError, match="cannot be folded"):
        Summary.of(filters, BloomShape(65, 3)).folded()


def test_a_squeezed_summary_keeps_what_tells_events_apart():
    type = EventType("Quote", {"symbol": generate.String(), "exchange": generate.Integer(0, 19)})
    r = Random(7)
    filters = [
        (type.symbol == f"SYM{n}") & (type.exchange == r.randrange(20)) if n % 2 else type.symbol == f"SYM{n}"
        for n in range(300)
    ]
    strangers = [type(symbol=f"other {n}", exchange=r.randrange(20)) for n in range(500)]
    summary = within(filters, 1000)
    assert len(summary.to_bytes()) <= 1000
    assert all(summary.admits(filter.example()) for filter in filters)
    # 300 words in some 8,000 bits, each event with up to 33 look-ups: the field with the words must not go.
    assert sum(map(summary.admits, strangers)) / len(strangers) < 0.25


def test_a_summary_covers_what_it_admits():
    r = Random(11)
    for _ in range(60):
        type = generate.event_type(r)
        filters = [generate.filter(r, type) for _ in range(4)]
        summary = Summary.of(filters)
        cover = summary.cover(type)
        for filter in filters:
            event = generate.near(r, type, filter)
            if summary.admits(event):
                assert cover is not None and cover.matches(event)


def test_what_is_wanted_with_one_listed_value_is_not_admitted_with_another():
    # Ten categories, each with a price of its own: the union of the prices would let a tenth through tenfold.
    offer = EventType("offer", {"kind": Enumeration(tuple("abcdefghij")), "price": Integer(0, 99)})
    filters = [(offer.kind == kind) & (offer.price == 10 * n) for n, kind in enumerate("abcdefghij")]
    apart = within(filters, 400)
    assert len(apart.to_bytes()) <= 400
    for kind in "abcdefghij":
        for price in range(100):
            event = offer(kind=kind, price=price)
            assert apart.admits(event) == any(each.matches(event) for each in filters)
    assert apart.merge(apart) == apart
    assert Summary.from_bytes(apart.to_bytes()) == apart
    tight = within(filters, 120)  # some rows have to be joined, and nothing is lost by it
    assert len(tight.to_bytes()) <= 120
    assert all(tight.admits(offer(kind=kind, price=10 * n)) for n, kind in enumerate("abcdefghij"))
    assert not all(tight.admits(offer(kind=kind, price=55)) for kind in "abcdefghij")


@settings(max_examples=40, deadline=None)
@given(randoms)
def test_the_length_of_a_summary_is_known_without_writing_it(r):
    type = generate.any_type(r)
    filters = [generate.filter(r, type) for _ in range(r.randint(1, 8))]
    summary = Summary.of(
        filters, r.choice([BloomShape(), BloomShape(64, 2), BloomShape(8192, 3)]), apart=r.random() < 0.5
    )
    assert length(summary) == len(encode(summary))


class Indifferent:
    """To whom every change lets in as much."""

    def weight(self, summary):
        return 0.0

    def loss(self, name, before, after):
        return 0.0


def test_of_changes_that_let_in_as_much_those_that_save_most_come_first():
    song = EventType("song", {f"f{n}": Integer() for n in range(4)})
    a, b, c, d = (
        field.isin(range(0, 10 * n, 2)) for n, field in enumerate((song.f0, song.f1, song.f2, song.f3), 1)
    )
    for filters in ([a & b & c & d], [a, a & d, b & c, c & d]):
        summary = Summary.of(filters)
        lengths = [length(each) for each in SummaryFitter(Indifferent()).coarsenings(summary)]
        assert lengths == sorted(lengths)
        assert len(set(lengths)) > 2
        most = length(summary) - lengths[0]
        assert (
            length(SummaryFitter(Indifferent()).fit(summary, length(summary) - most)) == lengths[0]
        )  # in one step


def test_what_nobody_named_is_not_looked_up():
    word = EventType("word", {"s": String()})
    strangers = [EventDigest.of(word(s=f"stranger {n}")) for n in range(200)]
    small = BloomShape(32, 1)
    wholes = Summary.of([word.s == "abc"], small)
    assert sum(map(wholes.admits, strangers)) < 20  # one bit in 32; with all beginnings and endings, most
    both = wholes.merge(Summary.of([word.s.startswith("str")], small))
    assert all(map(both.admits, strangers))
    assert Summary.from_bytes(both.to_bytes()) == both
    encoded = bytearray(wholes.to_bytes())
    flags = encoded.index(b"\x00\x01\x00\x00\x08") + 4  # one field, the first, with whole words
    for wrong in (0, 8 << 1):
        encoded[flags] = wrong
        with pytest.raises(ContentError):
            Summary.from_bytes(bytes(encoded))


def test_realistic_subscriptions_in_few_bytes_keep_most_strangers_out():
    load, r = Realistic(3), Random(7)
    filters = [load.filter(r) for _ in range(50)]
    summary = within(filters, 256)
    assert len(summary.to_bytes()) <= 256
    unwanted = [e for e in (load.event(r) for _ in range(400)) if not any(f.matches(e) for f in filters)]
    assert sum(map(summary.admits, unwanted)) < 0.25 * len(unwanted)  # 38 % by size of the parts alone
