"""The command `roamcast filter`: explain subscriptions, match them with events, group them."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Remote, Ui, Warm, choose_session

if TYPE_CHECKING:
    from roamcast.content.event import Event
    from roamcast.content.filter import Filter
    from roamcast.content.json.json_schema import JsonSchema
    from roamcast.content.schema import EventType
    from roamcast.content.xml.xsd import XmlSchema

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Schema = Annotated[
    Path | None,
    typer.Option(
        "--schema", metavar="F.xsd|F.json", help="Event types; inferred from the subscription if omitted."
    ),
]
Defaults = Annotated[bool, typer.Option("--defaults", help="Fill in default values of the schema.")]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Value of the parameter $NAME. May be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OnSpark = Annotated[bool, typer.Option("--spark", help="Use Spark; inputs are Parquet files.")]


class GroupingMethod(StrEnum):
    """The methods of `roamcast filter groups`."""

    KMEANS = "kmeans"
    GRAPH = "graph"
    LEAST = "least"
    AGGLOMERATIVE = "agglomerative"
    DIVISIVE = "divisive"


@app.command("explain")
def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The subscription.")],
    schema: Schema = None,
    given: Given = None,
    json: AsJson = False,
) -> None:
    """Show the normal form, the fields used, an event that matches and one that does not."""
    from roamcast.content.box.field_order import PAIR, members
    from roamcast.content.filter import Filter
    from roamcast.content.printer import write_part
    from roamcast.content.schema_file import load_schema

    loaded = None if schema is None else load_schema(schema)
    values = _read_parameters(given)
    wanted = Filter.parse(xpath, _guess([xpath], values) if loaded is None else loaded.types, **values)
    fields = wanted.type.fields
    places = {place for each in wanted.conjunctions for place, _ in each}
    used = sorted({at for place in places for at in (members(place) if place >= PAIR else (place,))})
    alternatives = [
        [write_part(wanted.type, p, domain) for p, domain in each] for each in wanted.conjunctions
    ]
    usual = {} if loaded is None else loaded.example_texts(wanted.type)
    matching, doubt = _write_first(loaded, wanted.examples(usual))
    other, other_doubt = _write_first(loaded, wanted.counterexamples(usual))
    record: dict[str, Any] = {
        "filter": str(wanted),
        "type": wanted.type.name,
        "alternatives": alternatives,
        "fields": [
            {"path": fields[p].path, "kind": fields[p].kind.name, "optional": fields[p].optional}
            for p in used
        ],
        "bytes": len(wanted.to_bytes()),
        "matches": matching,
        "does_not_match": other,
        "notes": [note for note in (doubt, other_doubt) if note],
    }
    if json:
        print(json_.dumps(record, ensure_ascii=False))
        return
    print(f"normal form     {record['filter']}")
    for number, parts in enumerate(alternatives, 1):
        print(f"alternative {number}   {' and '.join(parts) or f'every event of type {wanted.type.name}'}")
    for field in record["fields"]:
        missing = ", may be missing" if field["optional"] else ""
        print(f"field           {field['path']} ({field['kind']}{missing})")
    print(f"on the air      {record['bytes']} bytes")
    print(f"matches         {matching or 'no event'}")
    print(f"does not match  {other or 'no event: it matches all'}")
    for note in record["notes"]:
        print(f"note            {note}")


@app.command("match")
def match(
    events: Annotated[
        list[Path],
        typer.Argument(
            metavar="EVENTS...",
            help="Event documents, one per file; - is stdin. With --spark a Parquet file of JSON.",
        ),
    ],
    *,
    schema: Annotated[Path, typer.Option("--schema", metavar="F.xsd|F.json", help="The event types.")],
    filters: Annotated[
        list[str] | None, typer.Option("--filter", metavar="XPATH", help="A subscription. May be repeated.")
    ] = None,
    spark: OnSpark = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
    ui: Ui = False,
    event_log: EventLog = None,
    warm: Warm = None,
    many: Annotated[
        Path | None,
        typer.Option(
            "--filters",
            metavar="F.parquet",
            help="With --spark: Parquet file with the columns id and filter.",
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="With --spark: write all matching pairs instead of counts.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="With --spark: write the matches here.")
    ] = None,
    given: Given = None,
    defaults: Defaults = False,
    json: AsJson = False,
) -> None:
    """Print which filters match which events; with --spark, how many."""
    from roamcast.content.schema_file import load_schema

    loaded = load_schema(schema, defaults)
    if spark:
        from roamcast.cli.filter_spark import match_many

        where = choose_session(master, remote, conf, ui, event_log, warm=warm)
        match_many(events, many, loaded.types, out, where=where, pairs=pairs, json=json)
        return
    if not filters:
        raise typer.BadParameter("expected at least one, or --spark with --filters", param_hint="--filter")
    wanted = _with_parameters(filters, loaded.types, _read_parameters(given))
    record = []
    for path in events:
        event = _read_event(loaded, path)
        found = [text for text, filter in zip(filters, wanted, strict=True) if filter.matches(event)]
        record.append({"file": str(path), "type": event.type.name, "matched": found})
    if json:
        print(json_.dumps(record, ensure_ascii=False))
        return
    for row in record:
        for text in filters:
            print(f"{'yes' if text in row['matched'] else 'no ':3}  {row['file']}  {text}")


@app.command("groups")
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
    """Group subscriptions into channels; print the channels and the covering graph.

    With --spark, FILE is a Parquet file with the columns id and filter; K-means groups them, and no graph is
    printed.
    """
    from roamcast.content.schema_file import load_schema

    if spark:
        from roamcast.cli.filter_spark import group_many

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
    published = None if event is None or loaded is None else _read_event(loaded, event)
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


def _guess(texts: list[str], parameters: dict[str, str] | None = None) -> dict[str, EventType]:
    from roamcast.content.xpath.guess import guess_types

    return guess_types(texts, parameters)


def _read_parameters(given: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given or []:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{each!r}: expected NAME=VALUE")
        found[name.removeprefix("$")] = value
    return found


def _with_parameters(texts: list[str], types: dict[str, EventType], values: dict[str, str]) -> list[Filter]:
    """Return the filters, each with the parameters that it uses.

    Raise UserError for a parameter that no filter uses.
    """
    from roamcast.content.filter import Filter
    from roamcast.content.xpath import PreparedFilter
    from roamcast.errors import UserError

    prepared = [PreparedFilter(text, types) for text in texts]
    for name in values:
        if not any(name in each.parameters for each in prepared):
            raise UserError(f"no filter has a parameter ${name}")
    return [
        Filter.parse(each.xpath, types, **{n: v for n, v in values.items() if n in each.parameters})
        for each in prepared
    ]


def _write_first(schema: XmlSchema | JsonSchema | None, events: Iterator[Event]) -> tuple[str | None, str]:
    """Return a document of the first event that can be written, and a note about it (may be empty)."""
    from roamcast.content.errors import FilterTooComplex
    from roamcast.content.xml.document import write_xml

    try:
        if schema is not None:
            document, doubt = schema.write_first(events) or (None, "")
        else:
            document, doubt = next((write_xml(event) for event in events), None), ""
    except FilterTooComplex as error:
        return "(not found)", str(error)
    if document is None:
        return None, ""
    return document.decode(), doubt and f"the example {document.decode()} is not valid: {doubt}"


def _read_event(schema: XmlSchema | JsonSchema, path: Path) -> Event:
    from roamcast.content.schema_file import parse_document

    return parse_document(schema, _read(path), path)


def _read(path: Path) -> bytes:
    from roamcast.content.xml.document import MAX_XML, read_file

    return sys.stdin.buffer.read(MAX_XML + 1) if str(path) == "-" else read_file(path)


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
            at(number, _guess, [text])
    types = _guess(texts) if schema is None else schema.types
    return texts, [at(number, Filter.parse, text, types) for number, text in lines]
