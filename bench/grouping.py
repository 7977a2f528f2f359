"""Groupings of the same subscriptions, side by side: channels, noise and what is sent."""

from random import Random
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.loads import Realistic
from roamcast.content.grouping import FilterCluster, cost, least_constrained
from roamcast.content.grouping.graph import graph_groups
from roamcast.content.grouping.hierarchy import agglomerative_groups, divisive_groups
from roamcast.content.grouping.incremental import make_incremental
from roamcast.content.grouping.kmeans import kmeans_groups


def main(count: int = 200) -> None:
    r = Random(1)
    load = Realistic(1)
    filters = [load.filter(r) for _ in range(count)]
    events = [load.event(r) for _ in range(400)]
    methods = {
        "one channel each": lambda: [FilterCluster((n,), filter) for n, filter in enumerate(filters)],
        "least constrained": lambda: least_constrained(filters),
        "graph": lambda: graph_groups(filters),
        "K-means": lambda: kmeans_groups(filters),
        "K-means, K = 24": lambda: kmeans_groups(filters, 24),
        "agglomerative": lambda: agglomerative_groups(filters),
        "divisive": lambda: divisive_groups(filters),
    }
    table = Table(title=f"grouping {count} subscriptions, {len(events)} events")
    for column in ("method", "channels", "noise", "sent", "deliveries", "seconds"):
        table.add_column(column, justify="right")
    for name, method in methods.items():
        start = process_time()
        groups = method()
        seconds = process_time() - start
        paid = cost(groups, filters, events)
        numbers = (
            f"{paid.channels}",
            f"{paid.noise:.1%}",
            f"{paid.sent}",
            f"{paid.deliveries}",
            f"{seconds:.2f}",
        )
        table.add_row(name, *numbers)
    Console(width=110).print(table)
    for method in ("kmeans", "graph", "signature"):
        follow_arrivals(method)


def follow_arrivals(method: str, count: int = 10_000, more: int = 50) -> None:
    """What one more subscription costs among many that are followed, beside grouping all of them anew."""
    r, load = Random(2), Realistic(2)
    following = make_incremental(method)
    start = process_time()
    for key in range(count):
        following.add(key, load.filter(r))
    all_of_them = process_time() - start
    start = process_time()
    for key in range(more):
        following.add(("more", key), load.filter(r))
    one = (process_time() - start) / more
    ratio = all_of_them / one
    print(
        f"{method}: one more among {count}: {1e3 * one:.2f} ms; all anew {all_of_them:.1f} s, {ratio:.0f} x"
    )


if __name__ == "__main__":
    main()
