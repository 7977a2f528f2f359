"""The command `roamcast filter groups`: subscriptions grouped into channels."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.filters.inputs import AsJson, OnSpark, Schema, guess, read_event
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Remote, Ui, Warm, choose_session

if TYPE_CHECKING:
    from roamcast.content.event import Event
    from roamcast.content.filter import Filter
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.xml.xsd import XmlSchema


class GroupingMethod(StrEnum):
    """The methods of `roamcast filter groups`."""

    KMEANS = "kmeans"
    GRAPH = "graph"
    LEAST = "least"
    AGGLOMERATIVE = "agglomerative"
    DIVISIVE = "divisive"


def groups(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Subscriptions, one per line; # comments; - is stdin.")
    ],
    *,
    method: Annotated[GroupingMethod, typer.Option(help="Grouping method.")] = GroupingMethod.KMEANS,
    schema: Schema = None,
    channels: Annotated[
        int | None,
        typer.Option("-k", min=1, help="Number of groups per event type; by default K as in the papers."),
    ] = None,
    event: Annotated[
        Path | None,
        typer.Option("--event", metavar="E.xml", help="Event to add as a point of K-means."),
    ] = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", metavar="OUT.png", help="Draw the subscription graph.")
    ] = None,
    spark: OnSpark = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    warm: Warm = None,
    json: AsJson = False,
) -> None:
    """Group subscriptions into channels.

    The command prints the channels and the covering graph.

    With --spark, FILE is a Parquet file with the columns id and filter; K-means groups them, and no graph is
    printed.
    """
    from roamcast.content.schema_file import load_schema

    if spark:
        from roamcast.cli.filters.on_spark import group_many

        if schema is None or method is not GroupingMethod.KMEANS or event is not None or draw is not None:
            raise typer.BadParameter(
                "--spark needs --schema and groups by K-means: omit --event, --draw and --method"
            )
        where = choose_session(master, remote, conf, ui, event_log, warm=warm)
        group_many(file, load_schema(schema).types, channels, where=where, json=json)
        return
    from roamcast.content.grouping import cost
    from roamcast.content.grouping.graph import SubscriptionGraph
    from roamcast.content.grouping.sample import sample_events

    if event is not None and schema is None:
        raise typer.BadParameter("--event needs --schema")
    loaded = None if schema is None else load_schema(schema)
    texts, filters = _read_filters(file, loaded)
    published = None if event is None or loaded is None else read_event(loaded, event)
    found = _group(method, filters, channels, published)
    graph = SubscriptionGraph(filters)
    idle = [text for text, filter in zip(texts, filters, strict=True) if filter.empty]
    paid = cost(found, filters, sample_events(filters))
    if draw is not None:
        graph.draw(draw)
    if json:
        rows = [{"filter": str(g.filter), "members": [texts[m] for m in g.members]} for g in found]
        edges = [[str(filters[a]), str(filters[b])] for a in graph.nodes for b in graph.children[a]]
        costs = {"channels": paid.channels, "noise": round(paid.noise, 4)}
        print(
            json_.dumps(
                {"method": method, "groups": rows, "covers": edges, "cost": costs, "match_nothing": idle},
                ensure_ascii=False,
            )
        )
        return
    for number, group in enumerate(found, 1):
        print(f"channel {number}: {group.filter}")
        for member in group.members:
            print(f"    {texts[member]}")
    if idle:
        print("in no channel, because no event matches them:", *idle, sep="\n    ")
    print(
        f"\n{paid.channels} channels, {paid.noise:.0%} noise (share of false positives among "
        "events sampled around the subscriptions)"
    )
    print(f"\ncovering graph, covering above covered:\n{graph.to_text()}")
    if draw is not None:
        print(f"\ndrawn: {draw}")


def _group(
    method: GroupingMethod, filters: list[Filter], channels: int | None, event: Event | None
) -> list[Any]:
    if method is GroupingMethod.LEAST:
        from roamcast.content.grouping import least_constrained

        return list(least_constrained(filters, event))
    if method is GroupingMethod.GRAPH:
        from roamcast.content.grouping.graph import graph_groups

        return list(graph_groups(filters))
    if method is GroupingMethod.KMEANS:
        from roamcast.content.grouping.kmeans import kmeans_groups

        return list(kmeans_groups(filters, channels, event))
    from roamcast.content.grouping import hierarchy

    clustered = (
        hierarchy.agglomerative_groups
        if method is GroupingMethod.AGGLOMERATIVE
        else hierarchy.divisive_groups
    )
    return list(clustered(filters, channels))


_MOST_SUBSCRIPTIONS = 100_000_000
"Maximum size of a file of subscriptions [B]: about a million of them."


def _read_filters(path: Path, schema: XmlSchema | JsonSchema | None) -> tuple[list[str], list[Filter]]:
    """Return the subscriptions of a file as texts and as filters; an error names the file and the line."""
    from roamcast.content.errors import ContentError
    from roamcast.content.filter import Filter
    from roamcast.errors import UserError
    from roamcast.files import read_text

    try:
        whole = sys.stdin.read() if str(path) == "-" else read_text(path, _MOST_SUBSCRIPTIONS)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UserError(f"{path}: cannot be read: {reason}") from None
    lines = [(number, line.strip()) for number, line in enumerate(whole.split("\n"), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not lines:
        raise UserError(f"{path}: has no subscriptions; expected one XPath per line")

    def at(number: int, read: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return read(*arguments)
        except ContentError as error:
            raise UserError(f"{path}, line {number}: {error}") from None

    texts = [text for _, text in lines]
    if schema is None:
        for number, text in lines:
            at(number, guess, [text])
    types = guess(texts) if schema is None else schema.types
    return texts, [at(number, Filter.parse, text, types) for number, text in lines]
