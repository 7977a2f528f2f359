"""Groupings of the same subscriptions, side by side: channels, noise and what is sent."""

from random import Random
from time import process_time

from rich.console import Console
from rich.table import Table

from bench.loads import Realistic
from roamcast.content.grouping import Group, cost, least_constrained
from roamcast.content.grouping.graph import graph_groups
from roamcast.content.grouping.hierarchy import agglomerative_groups, divisive_groups
from roamcast.content.grouping.kmeans import kmeans_groups


def main(count: int = 200) -> None:
    r = Random(1)
    load = Realistic(1)
    filters = [load.filter(r) for _ in range(count)]
    events = [load.event(r) for _ in range(400)]
    methods = {
        "one channel each": lambda: [Group((n,), filter) for n, filter in enumerate(filters)],
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


if __name__ == "__main__":
    main()
