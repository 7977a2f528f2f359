"""roamcast filter: understand subscriptions, try them on events, group them."""

from __future__ import annotations

import json as json_
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from roamcast.content.event import Event
    from roamcast.content.filter import Filter
    from roamcast.content.schema import EventType
    from roamcast.content.xsd import XmlSchema

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Schema = Annotated[
    Path | None, typer.Option("--schema", metavar="F.xsd", help="The event types; guessed if absent.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Tell it as JSON.")]


class Method(StrEnum):
    """How to group."""

    KMEANS = "kmeans"
    GRAPH = "graph"
    LEAST = "least"
    AGGLOMERATIVE = "agglomerative"
    DIVISIVE = "divisive"


@app.command("explain")
def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The subscription.")],
    schema: Schema = None,
    json: AsJson = False,
) -> None:
    """Show the normal form, the fields used, an event that matches and one that does not."""
    from roamcast.content.filter import Filter
    from roamcast.content.printer import write_constraint
    from roamcast.content.xml import write_xml

    wanted = Filter.parse(xpath, _types(schema, [xpath]))
    fields = wanted.type.fields
    used = sorted({place for each in wanted.conjunctions for place, _ in each})
    alternatives = [
        [write_constraint(fields[p], domain) for p, domain in each] for each in wanted.conjunctions
    ]
    matching, other = wanted.example(), wanted.counterexample()
    told: dict[str, Any] = {
        "filter": str(wanted),
        "type": wanted.type.name,
        "alternatives": alternatives,
        "fields": [
            {"path": fields[p].path, "kind": fields[p].kind.name, "optional": fields[p].optional}
            for p in used
        ],
        "bytes": len(wanted.to_bytes()),
        "matches": None if matching is None else write_xml(matching).decode(),
        "does_not_match": None if other is None else write_xml(other).decode(),
    }
    if json:
        print(json_.dumps(told, ensure_ascii=False))
        return
    print(f"normal form     {told['filter']}")
    for number, parts in enumerate(alternatives, 1):
        print(f"alternative {number}   {' and '.join(parts) or f'everything of {wanted.type.name}'}")
    for field in told["fields"]:
        missing = ", may be missing" if field["optional"] else ""
        print(f"field           {field['path']} ({field['kind']}{missing})")
    print(f"on the air      {told['bytes']} bytes")
    print(f"matches         {told['matches'] or 'nothing at all'}")
    print(f"does not match  {told['does_not_match'] or 'nothing: it wants everything'}")


@app.command("match")
def match(
    events: Annotated[list[Path], typer.Argument(metavar="EVENTS.xml...", help="Events, one a file.")],
    *,
    schema: Annotated[Path, typer.Option("--schema", metavar="F.xsd", help="The event types.")],
    filters: Annotated[list[str], typer.Option("--filter", metavar="XPATH", help="May be repeated.")],
    json: AsJson = False,
) -> None:
    """Tell which filters match which events."""
    from roamcast.content.filter import Filter

    loaded = _load_schema(schema)
    wanted = [Filter.parse(text, loaded.types) for text in filters]
    told = []
    for path in events:
        event = _read_event(loaded, path)
        found = [text for text, filter in zip(filters, wanted, strict=True) if filter.matches(event)]
        told.append({"file": str(path), "type": event.type.name, "matched": found})
    if json:
        print(json_.dumps(told, ensure_ascii=False))
        return
    for row in told:
        for text in filters:
            print(f"{'yes' if text in row['matched'] else 'no ':3}  {row['file']}  {text}")


@app.command("groups")
def groups(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Subscriptions, one a line; # comments.")],
    *,
    method: Annotated[Method, typer.Option(help="How to group.")] = Method.KMEANS,
    schema: Schema = None,
    channels: Annotated[
        int | None, typer.Option("-k", min=1, help="Groups for each event type; by default the papers' K.")
    ] = None,
    event: Annotated[
        Path | None, typer.Option("--event", metavar="E.xml", help="The event that sets the groups up.")
    ] = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", metavar="OUT.png", help="Draw the subscription graph.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Print groups of subscriptions with what each channel asks, and the covering graph."""
    from roamcast.content.filter import Filter
    from roamcast.content.grouping import cost
    from roamcast.content.grouping.graph import SubscriptionGraph
    from roamcast.content.grouping.sample import sample_events

    texts = _read_lines(file)
    types = _types(schema, texts)
    filters = [Filter.parse(text, types) for text in texts]
    published = _read_event(_load_schema(schema), event) if event is not None and schema is not None else None
    if event is not None and published is None:
        raise typer.BadParameter("an event needs --schema to be read")
    found = _group(method, filters, channels, published)
    graph = SubscriptionGraph(filters)
    paid = cost(found, filters, sample_events(filters))
    if draw is not None:
        graph.draw(draw)
    if json:
        rows = [{"filter": str(g.filter), "members": [texts[m] for m in g.members]} for g in found]
        edges = [[str(filters[a]), str(filters[b])] for a in graph.nodes for b in graph.children[a]]
        costs = {"channels": paid.channels, "noise": round(paid.noise, 4)}
        print(
            json_.dumps(
                {"method": method, "groups": rows, "covers": edges, "cost": costs}, ensure_ascii=False
            )
        )
        return
    for number, group in enumerate(found, 1):
        print(f"channel {number}: {group.filter}")
        for member in group.members:
            print(f"    {texts[member]}")
    print(f"\n{paid.channels} channels, {paid.noise:.0%} noise (events drawn around the subscriptions)")
    print(f"\nthe covering graph, wide above narrow:\n{graph.to_text()}")
    if draw is not None:
        print(f"\ndrawn: {draw}")


def _group(method: Method, filters: list[Filter], channels: int | None, event: Event | None) -> list[Any]:
    if method is Method.LEAST:
        from roamcast.content.grouping import least_constrained

        return list(least_constrained(filters, event))
    if method is Method.GRAPH:
        from roamcast.content.grouping.graph import graph_groups

        return list(graph_groups(filters))
    if method is Method.KMEANS:
        from roamcast.content.grouping.kmeans import kmeans_groups

        return list(kmeans_groups(filters, channels, event))
    from roamcast.content.grouping import hierarchy

    clustered = (
        hierarchy.agglomerative_groups if method is Method.AGGLOMERATIVE else hierarchy.divisive_groups
    )
    return list(clustered(filters, channels))


def _types(schema: Path | None, texts: list[str]) -> dict[str, EventType]:
    if schema is not None:
        return _load_schema(schema).types
    from roamcast.content.xpath.guess import guess_types

    return guess_types(texts)


def _load_schema(path: Path) -> XmlSchema:
    from roamcast.content.xsd import XmlSchema

    return XmlSchema.load(path)


def _read_event(schema: XmlSchema, path: Path) -> Event:
    from roamcast.content.errors import ContentError
    from roamcast.content.xml import XmlError, read_file

    try:
        return schema.read(read_file(path))
    except ContentError as error:
        raise XmlError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def _read_lines(path: Path) -> list[str]:
    from roamcast.errors import UserError

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    texts = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not texts:
        raise UserError(f"{path}: no subscriptions; write one XPath a line")
    return texts
