"""What is seldom asked of groups and summaries, each by itself."""

from itertools import count

import pytest

from roamcast.content.area_type import AreaType
from roamcast.content.box.point_set import PointSet, point_index
from roamcast.content.box.string_set import StringSet
from roamcast.content.earth.sphere import Circle
from roamcast.content.errors import CodecError, ContentError
from roamcast.content.field_type import Decimal, Enumeration, Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.bounded_cover import HALF, BoundedCover, share
from roamcast.content.grouping.hull import hull
from roamcast.content.grouping.incremental import METHODS, ClusterBuilder, make_incremental
from roamcast.content.grouping.kmeans import KMeans
from roamcast.content.grouping.partition import SignaturePartition
from roamcast.content.schema import EventType, Field
from roamcast.content.summary import EventDigest, Summary
from roamcast.content.summary.bloom import BloomShape
from roamcast.content.summary.codec import encode
from roamcast.content.summary.digest import StringDigest
from roamcast.content.summary.false_positives import FalsePositiveSample
from roamcast.content.summary.fitting import within
from roamcast.content.summary.parts import EnumerationPart, NumericPart, StringPart
from roamcast.content.summary.selectivity import Selectivity

SONG = EventType(
    "song",
    {"year": Integer(1900, 1963), "title": String(), "style": Enumeration(("pop", "jazz", "folk"))},
    optional=("style",),
)


def years(low, high):
    return (SONG.year >= low) & (SONG.year <= high)


def test_the_one_group_of_all_grows_with_what_arrives_and_asks_anew_what_is_left():
    groups = make_incremental("least")
    assert groups.groups(SONG) == []
    groups.add("a", years(1910, 1920))
    [(label, members, filter)] = groups.groups(SONG)
    assert members == ("a",) and filter == years(1910, 1920)
    groups.add("b", years(1930, 1940))
    assert groups.groups(SONG) == [(label, ("a", "b"), hull([years(1910, 1920), years(1930, 1940)]))]
    groups.add("c", years(1912, 1914))
    assert groups.groups(SONG)[0][2] == hull([years(1910, 1920), years(1930, 1940)])
    groups.remove("b")
    assert groups.groups(SONG) == [(label, ("a", "c"), years(1910, 1920))]
    groups.remove("a")
    groups.remove("c")
    assert groups.groups(SONG) == [] and len(groups) == 0


def test_what_covers_a_group_is_made_anew_when_more_than_a_quarter_have_gone():
    members = ClusterBuilder(SONG)
    for n in range(8):
        members.add(n, years(1900 + 5 * n, 1900 + 5 * n))
    loose = members.filter()
    members.remove(0)
    assert members.filter() is loose and loose.matches(SONG(year=1900, title="x"))
    members.remove(1)
    tight = members.filter()
    assert not tight.matches(SONG(year=1900, title="x")) and not tight.matches(SONG(year=1905, title="x"))
    members.remove(2)
    assert members.filter() is tight and tight.matches(SONG(year=1910, title="x"))
    members.remove(3)
    assert not members.filter().matches(SONG(year=1910, title="x"))


@pytest.mark.parametrize("method", ["agglomerative", "divisive"])
def test_a_number_can_be_asked_for_before_the_groups(method):
    groups = make_incremental(method, 2)
    for key, low in enumerate((1900, 1901, 1950, 1951)):
        groups.add(key, years(low, low + 2))
    assert groups.label(0) == groups.label(1) != groups.label(2) == groups.label(3)
    assert {label: members for label, members, _ in groups.groups(SONG)} == {
        groups.label(0): (0, 1),
        groups.label(2): (2, 3),
    }


def test_k_means_combines_the_nearest_when_fewer_fields_are_spoken_of():
    groups = KMeans(SONG, count(), None)
    for key, low in enumerate((1900, 1901, 1902, 1960)):
        groups.add(key, years(low, low))
    groups.add("word", SONG.title == "So What")
    groups.add("style", SONG.style == "jazz")
    assert len(groups.groups()) == 3
    groups.remove("word")
    groups.remove("style")
    [(label, members, filter)] = groups.groups()
    assert sorted(members) == [0, 1, 2, 3] and {groups.label(key) for key in members} == {label}
    assert all(filter.matches(SONG(year=year, title="x")) for year in (1900, 1901, 1902, 1960))
    for key in range(4):
        groups.remove(key)
    assert groups.groups() == []


def test_of_two_groups_that_are_combined_the_larger_keeps_its_number():
    groups = KMeans(SONG, count(), 3)
    for key, low in enumerate((1900, 1901, 1902, 1930, 1960, 1961)):
        groups.add(key, years(low, low))
    assert len(groups.groups()) == 3
    sizes = {label: len(members) for label, members, _ in groups.groups()}
    groups.k = 2
    groups.add("again", years(1961, 1961))
    left = {label: len(members) for label, members, _ in groups.groups()}
    assert len(left) == 2 and sum(left.values()) == 7 and set(left) <= set(sizes)
    assert groups.label(0) == groups.label(1) == groups.label(2) != groups.label(4) == groups.label(5)


def test_a_group_of_signatures_goes_with_its_last_member_and_its_buckets_with_it():
    groups = SignaturePartition(SONG, count(), 2)
    groups.add("a", SONG.title == "a")
    groups.add("b", SONG.style == "jazz")
    one, other = groups.label("a"), groups.label("b")
    assert one != other and groups.weights() == {one: 1, other: 1}
    groups.remove("a")
    assert groups.weights() == {other: 1} and [label for label, _, _ in groups.groups()] == [other]
    groups.add("a", SONG.title == "a")
    assert groups.label("a") not in (one, other) and len(groups.groups()) == 2
    groups.remove("a")
    groups.remove("b")
    assert groups.weights() == {} and groups.groups() == []


def test_a_bucket_weighs_its_signatures_times_its_members_as_they_go():
    groups = SignaturePartition(SONG, count(), 1)
    for key, title in enumerate(("a", "a", "a")):
        groups.add(key, SONG.title == title)
    label = groups.label(0)
    assert groups.weights() == {label: 3}
    groups.remove(1)
    assert groups.weights() == {label: 2}
    groups.remove(0)
    assert groups.weights() == {label: 1} and groups.label(2) == label


def test_a_circle_leaves_half_of_the_box_around_it_and_each_test_of_an_area_half():
    place = EventType("place", {"lat": Decimal(-90, 90), "lon": Decimal(-180, 180)})
    assert share(place, ((point_index(0, 1), PointSet.where([Circle(0.0, 0.0, 1000.0)])),)) == HALF
    zone = EventType("zone", (Field("where", AreaType()),))
    one, two = zone["where"].within_box(0, 0, 9, 9), zone["where"].intersects_box(1, 1, 2, 2)
    assert share(zone, one.conjunctions[0]) == HALF
    assert share(zone, (one & two).conjunctions[0]) == HALF**2


PLACE = EventType("place", {"lat": Decimal(-90, 90), "lon": Decimal(-180, 180), "n": Integer()})


def near(lat, lon, radius):
    return Filter.parse(f'/place[within(., circle({lat}, {lon}, "{radius} km"))]', PLACE)


def test_groups_of_circles_have_the_larger_one_or_the_box_around_both():
    big, small, far = near(0, 0, 100), near(0.1, 0.1, 10), near(5, 5, 100)
    assert hull([big, small]) == hull([small, big]) == big
    both = hull([big, far])
    assert both.covers(big) and both.covers(far)
    assert [place for place, _ in both.conjunctions[0]] == [0, 1]
    assert both.matches(PLACE(lat=0.8, lon=0.8, n=1)) and not both.matches(PLACE(lat=2.5, lon=2.5, n=1))
    assert hull([big, ~big & PLACE.lat.exists()]).covers(big)
    for method in METHODS:
        groups = make_incremental(method, 2)
        for key, filter in enumerate((big, small, far, far & (PLACE.n > 3))):
            groups.add(key, filter)
        for _, members, filter in groups.groups(PLACE):
            assert all(filter.covers(groups.filters[key]) for key in members)


def test_a_tight_cover_joins_its_neighbours_until_it_fits():
    wanted = [years(1900, 1901), years(1903, 1904), years(1960, 1961)]
    sizes = [len(BoundedCover.of(wanted[:n]).to_bytes()) for n in (1, 2, 3)]
    assert BoundedCover.of(wanted, sizes[2]).equivalent(wanted[0] | wanted[1] | wanted[2])
    for budget in range(sizes[2] - 1, 8, -3):
        cover = BoundedCover.of(wanted, budget)
        assert all(cover.covers(each) for each in wanted)
    titles = [years(low, low + 1) & (SONG.title == "a") for low in (1900, 1903, 1940)]
    exact = BoundedCover.of(titles)
    joined = BoundedCover.of(titles, len(exact.to_bytes()) - 1)
    assert joined.covers(exact) and len(joined.conjunctions) <= len(exact.conjunctions)
    wide = BoundedCover(SONG)
    for each in (*wanted, years(1900, 1963)):
        wide.add(each)
    assert wide.filter == years(1900, 1963)


def test_what_a_tight_cover_no_longer_holds_is_nobodys_neighbour():
    # A wide box stands for several at once, of which some were nearest to each other.
    cover = BoundedCover(SONG, budget=40)
    r = [years(low, low) & (SONG.title == title) for low in range(1900, 1960, 7) for title in ("a", "b")]
    for each in r:
        cover.add(each)
        assert set(cover._nearest) <= set(cover._boxes)
        assert all(near in cover._boxes for _, near, _ in cover._nearest.values())
        assert cover._bytes == 9 + sum(size for size, _ in cover._boxes.values())
    assert all(cover.filter.covers(each) for each in r)
    cover.add(Filter.everything(SONG))
    assert list(cover._boxes) == [()] and cover._nearest == {}


def test_parts_admit_what_their_kind_can_be_and_nothing_else():
    text = StringDigest.of("a")
    for absent in (True, False):
        assert EnumerationPart(0b101, absent).admits(None) is absent
        assert NumericPart(((1, 3),), absent).admits(None) is absent
        assert StringPart(BloomShape(), absent=absent).admits(None) is absent
    assert [EnumerationPart(0b101).admits(n) for n in (-1, 0, 1, 2, 3)] == [False, True, False, True, False]
    assert not EnumerationPart(1).admits(text) and not EnumerationPart(1).admits(0.0)
    assert not NumericPart(((1, 3),)).admits(text)
    assert [NumericPart(((1, 3),)).admits(n) for n in (0, 1, 3, 4)] == [False, True, True, False]
    assert not StringPart.of(StringSet(("a",)), BloomShape()).admits(3) and StringPart.of(
        StringSet(("a",)), BloomShape()
    ).admits(text)


def test_a_digest_in_other_bytes_is_refused():
    encoded = EventDigest.of(SONG(year=1959, title="")).to_bytes()
    assert EventDigest.from_bytes(encoded).values[0] == 1959
    with pytest.raises(CodecError, match="not in canonical form"):
        EventDigest.from_bytes(encoded + b"\0")
    with pytest.raises(CodecError, match="too early"):
        EventDigest.from_bytes(encoded[:-3])


def test_a_summary_that_cannot_be_made_so_small_is_refused():
    with pytest.raises(ContentError, match="does not fit in 10 bytes"):
        within([SONG.year > 1910], 10)
    with pytest.raises(ContentError, match="a summary of 1 event types does not fit in 10 bytes"):
        Summary.of([SONG.year > 1910]).to_bytes(10)
    least = within([SONG.year > 1910], 19)  # 5 of its own, 12 of the type and 2 of a row without fields
    assert len(least.to_bytes()) == 19 and least.admits(SONG(year=1900, title="x"))


def test_bits_outside_of_a_bloom_filter_are_refused():
    dense = Summary.of([SONG.title.isin(map(str, range(40)))], BloomShape(12, 2))
    data = bytearray(encode(dense))
    assert Summary.from_bytes(bytes(data)) == dense
    data[-2] |= 0x10  # of twelve bits, the thirteenth
    with pytest.raises(CodecError, match="a bit lies outside the Bloom filter"):
        Summary.from_bytes(bytes(data))


def test_of_a_field_that_no_subscription_names_the_judges_know_the_same():
    judge, known = FalsePositiveSample([SONG.title == "a"]), Selectivity([SONG.title == "a"])
    row = {0: NumericPart(((1910, 1920),))}
    name = SONG.fingerprint
    expected = known.part(name, 0, row[0])
    assert judge.loss(name, (row,), {}) == pytest.approx(1 - expected)
    assert 0 < expected < 1


def test_a_summary_is_told_in_a_line():
    name = SONG.fingerprint.hex()
    assert repr(Summary.of([SONG.year > 1910, SONG.title == "a"])) == f"<Summary {name}: 2 rows>"
    assert repr(Summary.of([])) == "<Summary of nothing>"


def test_rows_that_share_the_most_fields_are_joined_when_there_are_too_many():
    many = EventType("many", {f"f{n}": Integer() for n in range(130)})
    filters = [(many[f"f{2 * n}"] > 0) & (many[f"f{2 * n + 1}"] > 0) for n in range(64)]
    close = (many.f0 > 5) & (many.f1 > 5) & (many.f128 > 5)
    summary = Summary.of([*filters, close])
    rows = summary.rows[many.fingerprint]
    assert len(rows) == 64 and {0: NumericPart(((1, 2**63 - 1),)), 1: NumericPart(((1, 2**63 - 1),))} in rows
    assert len({frozenset(row) for row in rows}) == 64 and not any(128 in row for row in rows)
