"""Every grouping covers its members; the graph is the covering order; the figures of the papers."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.errors import ContentError
from roamcast.content.filter import Filter
from roamcast.content.grouping import cost, drawing, hull, least_constrained, point
from roamcast.content.grouping.features import cluster_count, vectors
from roamcast.content.grouping.graph import SubscriptionGraph, graph_groups
from roamcast.content.grouping.hierarchy import agglomerative_groups, divisive_groups
from roamcast.content.grouping.incremental import make_incremental
from roamcast.content.grouping.kmeans import kmeans_groups
from roamcast.content.schema import EventType

from . import generate
from .test_figures import CD

randoms = st.randoms(use_true_random=False)
METHODS = {
    "least": least_constrained,
    "graph": graph_groups,
    "kmeans": kmeans_groups,
    "agglomerative": agglomerative_groups,
    "divisive": divisive_groups,
}

FIGURE_8 = [
    Filter.parse(text, CD)
    for text in (
        '/CD [category="jazz" and price<"20" and price>"15"]',
        '/CD [category="pop"] [composer="Harrison"]',
        '/CD [category="jazz" and price<"20" and price>"10"]',
        '/CD [category="jazz"] [composer="Evans"]',
    )
]
EVENT_8 = CD(category="jazz", composer="Evans", price=12)


def some_filters(r, count):
    type = generate.any_type(r)
    return [generate.filter(r, type) for _ in range(r.randint(1, count))]


@pytest.mark.parametrize("method", METHODS)
def test_groups_cover_their_members_and_everyone_has_one(method):
    r = Random(f"groups/{method}")
    for _ in range(25):
        filters = some_filters(r, 8) + some_filters(r, 4)
        groups = METHODS[method](filters)
        members = sorted(place for group in groups for place in group.members)
        assert members == [place for place, filter in enumerate(filters) if not filter.empty]
        for group in groups:
            assert all(group.filter.covers(filters[place]) for place in group.members)
            for place in group.members:
                event = generate.near(r, filters[place].type, filters[place])
                assert group.filter.matches(event) or not filters[place].matches(event)


@settings(max_examples=150, deadline=None)
@given(randoms)
def test_the_hull_covers_in_one_conjunction(r):
    filters = [filter for filter in some_filters(r, 5) if not filter.empty]
    if filters:
        found = hull(filters)
        assert len(found.conjunctions) == 1
        assert all(found.covers(filter) for filter in filters)
    else:
        with pytest.raises(ContentError):
            hull(filters)


def test_the_hull_of_many_words_is_what_they_all_begin_and_end_with():
    names = [f"Mc{chr(97 + n)}{k}son" for n in range(26) for k in "xyz"]
    found = hull([Filter.parse(f'/CD[composer="{name}"]', CD) for name in names])
    assert found.matches(CD(category="pop", composer="McXson", price=12))
    for other in ("Xaxson", "Mcaxso", "Mcaxsonx"):
        assert not found.matches(CD(category="pop", composer=other, price=12))
    # A pattern among the words has a beginning and an end of its own, which the others may share in part.
    wild = Filter.parse('/CD[starts-with(composer, "Mac")]', CD)
    wide = hull([wild, *(Filter.parse(f'/CD[composer="{name}"]', CD) for name in names)])
    assert wide.covers(wild)
    assert wide.matches(CD(category="pop", composer="Magnus", price=12))
    assert not wide.matches(CD(category="pop", composer="Nagnus", price=12))


@settings(max_examples=100, deadline=None)
@given(randoms)
def test_the_graph_is_the_hasse_diagram_of_covering(r):
    filters = some_filters(r, 7)
    graph = SubscriptionGraph(filters)
    stands_for = {place: node for node in graph.nodes for place in graph.equals[node]}
    edges = {(node, child) for node in graph.nodes for child in graph.children[node]}
    for a, up in stands_for.items():
        for b, down in stands_for.items():
            assert filters[a].covers(filters[b]) == (up == down or down in graph.below[up])
    for node, child in edges:
        assert not any(child in graph.below[other] for other in graph.below[node])
    for node in graph.nodes:
        reached, queue = set(), [node]
        while queue:
            for child in graph.children[queue.pop()]:
                if child not in reached:
                    reached.add(child)
                    queue.append(child)
        assert reached == graph.below[node]


def test_figure_8_the_least_constrained_group_of_the_published_event():
    [group] = least_constrained(FIGURE_8, EVENT_8)
    assert group.members == (2, 3)
    assert str(group.filter) == '/CD[category="jazz"]'


def test_the_graph_of_the_examples_can_be_read_and_drawn(tmp_path):
    filters = [*FIGURE_8, CD.category == "jazz"]
    graph = SubscriptionGraph(filters)
    assert graph.to_text().splitlines() == [
        '/CD[category="pop" and composer="Harrison"]',
        '/CD[category="jazz"]',
        '  /CD[category="jazz" and price>10 and price<20]',
        '    /CD[category="jazz" and price>15 and price<20]',
        '  /CD[category="jazz" and composer="Evans"]',
    ]
    assert graph.to_networkx().number_of_edges() == 3
    graph.draw(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").stat().st_size > 5000


def test_a_grid_of_subscriptions_is_written_once_each_with_its_edges():
    type = EventType("G", {"a": generate.Integer(), "b": generate.Integer()})
    filters = [(type.a < i) & (type.b < j) for i in range(12) for j in range(12)]
    graph = SubscriptionGraph(filters)
    lines = graph.to_text().splitlines()
    edges = graph.to_networkx().number_of_edges()
    assert len(lines) == edges + 1
    assert {line.strip().removesuffix("  (see above)") for line in lines} == set(map(str, filters))


@pytest.mark.parametrize("name", ["graph.png", "graph.svg"])
def test_any_text_can_be_drawn(tmp_path, name, recwarn):
    words = ["$x$", "\\frac{", "日本", "a" * 200, "$"]
    filters = [Filter.everything(CD), *(CD.composer == word for word in words), CD.price < 20, CD.price < 15]
    SubscriptionGraph(filters).draw(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 3000
    assert not recwarn.list
    SubscriptionGraph([]).draw(tmp_path / f"empty-{name}")
    with pytest.raises(ContentError, match="must end in"):
        SubscriptionGraph(filters).draw(tmp_path / "graph")
    with pytest.raises(ContentError, match="cannot be written"):
        SubscriptionGraph(filters).draw(tmp_path / "nowhere" / name)


def test_a_line_passes_between_the_boxes_of_the_rows_it_crosses():
    chain = [CD.price < n for n in (40, 30, 20)]
    graph = SubscriptionGraph([*chain, (CD.category == "jazz") | (CD.price < 15), (CD.price < 12)])
    rows, lines = drawing._rows(graph.to_networkx())
    level = {item: number for number, row in enumerate(rows) for item in row}
    assert sorted((line[0], line[-1]) for line in lines) == sorted(graph.to_networkx().edges)
    for line in lines:
        assert [level[item] for item in line] == list(range(level[line[0]], level[line[-1]] + 1))
    assert any(len(line) > 2 for line in lines)


@pytest.mark.parametrize("method", METHODS)
def test_groups_of_the_same_or_of_few_subscriptions_bring_no_warning(method, recwarn):
    for filters in ([CD.price < 20] * 3, [CD.price < 20], [CD.price < 20, CD.price < 30]):
        groups = METHODS[method](filters)
        assert sorted(n for group in groups for n in group.members) == list(range(len(filters)))
    assert not recwarn.list


def test_the_same_arrivals_and_departures_give_the_same_groups():
    def come_and_go():
        r, following = Random(5), make_incremental("kmeans")
        received = []
        for _ in range(60):
            key = r.randrange(12)
            if r.random() < 0.3:
                following.remove(key)
            else:
                following.add(key, r.choice(clusters()))
            received.append(following.groups(CD))
            assert sorted(k for _, members, _ in received[-1] for k in members) == sorted(following.filters)
        return received

    assert come_and_go() == come_and_go()


def test_cost_counts_what_reaches_those_who_did_not_want_it():
    [group] = least_constrained(FIGURE_8, EVENT_8)
    events = [
        EVENT_8,
        CD(category="jazz", composer="Davis", price=30),
        CD(category="pop", composer="x", price=10),
    ]
    paid = cost([group], FIGURE_8, events)
    assert (paid.channels, paid.sent, paid.deliveries, paid.unwanted) == (1, 2, 4, 2)
    assert paid.noise == 0.5
    assert cost([], [], events).noise == 0


def clusters():
    """Three kinds of subscribers that anyone can tell apart."""
    jazz = [(CD.category == "jazz") & (CD.price < 20 + n) for n in range(6)]
    classic = [(CD.category == "classic") & (CD.price > 80 + n) for n in range(6)]
    pop = [(CD.category == "pop") & (CD.composer == name) for name in ("Harrison", "Lennon", "Starr")]
    return [*jazz, *classic, *pop]


@pytest.mark.parametrize("method", ["kmeans", "agglomerative", "divisive"])
def test_clusters_that_anyone_can_see_are_found(method):
    filters = clusters()
    assert cluster_count(filters) == 3
    found = {group.members for group in METHODS[method](filters)}
    assert found == {tuple(range(6)), tuple(range(6, 12)), (12, 13, 14)}


def test_a_field_that_everyone_agrees_on_has_no_weight():
    same = vectors([(CD.category == "jazz") & (CD.price < n) for n in (20, 30, 40)])
    alone = vectors([CD.price < n for n in (20, 30, 40)])
    assert np.ptp(same, axis=0).sum() == pytest.approx(np.ptp(alone, axis=0).sum())


def test_the_event_draws_those_about_it_together_and_is_no_member():
    groups = kmeans_groups(FIGURE_8, event=EVENT_8)
    assert sorted(place for group in groups for place in group.members) == [0, 1, 2, 3]
    assert point(EVENT_8).matches(EVENT_8)
    assert FIGURE_8[3].covers(point(EVENT_8))


def test_the_event_that_sets_the_grouping_off_draws_a_subscription_into_its_group():
    price = [20.0] * 2 + [30.0] * 9 + [25.2]  # the last lies nearer to the nine
    filters = [CD.price == each for each in price]
    after = make_incremental("kmeans", 2)
    for key, filter in enumerate(filters):
        after.add(key, filter)
    assert after.label(11) == after.label(2) != after.label(0)
    after.trigger(CD(category="jazz", composer="Evans", price=24.6))
    assert after.label(11) == after.label(0)
    [near, far] = after.groups(CD)
    assert sorted([*near[1], *far[1]]) == list(range(12))
    assert all(channel.covers(filters[key]) for _, members, channel in (near, far) for key in members)
    batch = kmeans_groups(filters, 2, CD(category="jazz", composer="Evans", price=24.6))
    assert {group.members for group in batch} == {(0, 1, 11), tuple(range(2, 11))}


def spread(points, labels):
    """The papers' measure of a clustering: the sum, over clusters, of the mean distance to the centroid."""
    total = 0.0
    for label in set(labels):
        own = points[np.asarray(labels) == label]
        total += np.linalg.norm(own - own.mean(axis=0), axis=1).mean()
    return total


def test_groups_split_and_combine_as_subscriptions_come_and_go():
    following = make_incremental("kmeans")
    filters = clusters()
    counts = []
    for key, filter in enumerate(filters):
        following.add(key, filter)
        for _, members, channel in following.groups(CD):
            assert all(channel.covers(filters[member]) for member in members)
        counts.append(len(following.groups(CD)))
    assert counts[0] == 1
    assert counts[-1] == 3
    labels = {key: n for n, (_, members, _) in enumerate(following.groups(CD)) for key in members}
    points = vectors(filters)
    batch = kmeans_groups(filters)
    best = spread(points, [n for key in range(15) for n, g in enumerate(batch) if key in g.members])
    assert spread(points, [labels[key] for key in range(15)]) <= 1.5 * best
    for key in range(12, 15):
        following.remove(key)
    assert len(following.groups(CD)) == 2
    for key in range(12):
        following.remove(key)
    assert following.groups(CD) == []


def test_types_do_not_share_channels():
    other = EventType("DVD", {"n": generate.Integer()})
    groups = kmeans_groups([CD.price < 20, other.n == 1, CD.price < 30])
    assert sorted(len(group.members) for group in groups) == [1, 2]


def ranges(seed, count):
    r = Random(seed)
    return [(CD.price >= low) & (CD.price <= low + 5) for low in (r.randint(10, 99) for _ in range(count))]


def regrouped(method, filters, k):
    """Labels after additions, and after departures and returns that reassign all subscriptions again."""
    following = make_incremental(method, k)
    for key, filter in enumerate(filters):
        following.add(key, filter)
    for _ in range(20):
        following.add("passing", filters[0])
        following.remove("passing")
    return [following.label(key) for key in range(len(filters))]


def test_the_papers_metric_is_smaller_than_by_nearest_centroids():
    sums = {"kmeans": 0.0, "kmeans-average": 0.0}
    smaller = 0
    for seed in range(12):
        filters = ranges(seed, 24)
        found = {method: spread(vectors(filters), regrouped(method, filters, 4)) for method in sums}
        smaller += found["kmeans-average"] < found["kmeans"] - 1e-9
        sums = {method: sums[method] + found[method] for method in sums}
    assert smaller >= 8
    assert sums["kmeans-average"] < 0.9 * sums["kmeans"]


@pytest.mark.parametrize("seed", range(4))
def test_no_single_move_lowers_the_papers_metric_when_reassignment_has_ended(seed):
    filters = ranges(seed, 12)
    labels = regrouped("kmeans-average", filters, 3)
    points = vectors(filters)
    least = spread(points, labels)
    for key, other in product(range(12), set(labels)):
        if labels.count(labels[key]) > 1:
            moved = [other if each == key else label for each, label in enumerate(labels)]
            assert spread(points, moved) >= least - 1e-9
