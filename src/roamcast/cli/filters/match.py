"""The command `roamcast filter match`: which subscriptions match which events."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roamcast.cli.filters.inputs import AsJson, Defaults, Given, OnSpark, read_event, read_parameters
from roamcast.cli.shared.spark_options import Conf, EventLog, Master, Remote, Ui, Warm, choose_session

if TYPE_CHECKING:
    from roamcast.content.filter import Filter
    from roamcast.content.schema import EventType


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
        from roamcast.cli.filters.on_spark import match_many

        where = choose_session(master, remote, conf, ui, event_log, warm=warm)
        match_many(events, many, loaded.types, out, where=where, pairs=pairs, json=json)
        return
    if not filters:
        raise typer.BadParameter("expected at least one, or --spark with --filters", param_hint="--filter")
    parsed = _with_parameters(filters, loaded.types, read_parameters(given))
    record = []
    for path in events:
        event = read_event(loaded, path)
        found = [text for text, filter in zip(filters, parsed, strict=True) if filter.matches(event)]
        record.append({"file": str(path), "type": event.type.name, "matched": found})
    if json:
        print(json_.dumps(record, ensure_ascii=False))
        return
    for row in record:
        for text in filters:
            print(f"{'yes' if text in row['matched'] else 'no ':3}  {row['file']}  {text}")


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
