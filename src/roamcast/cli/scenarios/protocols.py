"""The command `roamcast protocols`: list the protocols and their parameters."""

from __future__ import annotations

import json as json_
import re
from collections.abc import Iterator
from copy import copy
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from roamcast.errors import UserError
from roamcast.routing import catalogue
from roamcast.routing.profiles import AS_PUBLISHED
from roamcast.routing.router import Parameters, Router
from roamcast.routing.router_file import add_file
from roamcast.scenario.reference import describe_default


def command(
    name: Annotated[str | None, typer.Argument(help="Show the parameters of this protocol.")] = None,
    router: Annotated[
        str | None,
        typer.Option(metavar="FILE.py:CLASS", help="Show the parameters of the router in this file."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show all parameters, not only the main ones.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: all parameters.")] = False,
) -> None:
    """List the protocols, or the parameters of one."""
    if router is not None:
        if name is not None:
            raise UserError("--router and NAME: give one of them")
        name = add_file(router)
    if name is None:
        known, broken = catalogue.working()
        rows = [
            {
                "protocol": each,
                "about": _about(catalogue.find(each)),
                "as published": _as_published(catalogue.find(each)),
            }
            for each in known
        ]
        rows += [{"protocol": each, "about": why, "as published": "-"} for each, why in broken.items()]
    else:
        rows = parameters(name)
    if json:
        print(json_.dumps(rows))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    if name is not None:
        console.print(f"[bold]{name}[/]: {_about(catalogue.find(name))}", highlight=False)
    if not rows:
        console.print("It has no parameters.")
        return
    hidden = 0
    if name is not None and not all_ and any(row["main"] for row in rows):
        hidden = len(rows)
        rows = [row for row in rows if row["main"]]
        hidden -= len(rows)
    shown = [key for key in rows[0] if key not in ("default", "main")]  # `written` has the unit
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for key in shown:
        table.add_column("default" if key == "written" else key, overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(row[key])) for key in shown))
    console.print(table, highlight=False)
    if hidden:
        console.print(f"{hidden} more parameters: roamcast protocols {name} --all", highlight=False)


def parameters(name: str) -> list[dict[str, Any]]:
    """Return the parameters of a protocol, main parameters first.

    A row has the default (in SI units and as written in a file), the value as published and the meaning.
    Names of parameters of a nested protocol, such as the unicast protocol of `raft-cbr`, contain a dot.
    """
    router = catalogue.find(name)
    rows = []
    for key, field in _fields(router.parameters_type()):
        default = field.get_default(call_default_factory=True, validated_data={})
        row: dict[str, Any] = {"parameter": key, "default": default, "written": describe_default(field)}
        row |= {"about": " ".join((field.description or "").split()), "main": key in router.main_parameters}
        if router.as_published:
            row["as published"] = str(router.as_published.get(key, ""))
        rows.append(row)
    order = {key: number for number, key in enumerate(router.main_parameters)}
    return sorted(rows, key=lambda row: order.get(row["parameter"], len(order)))


def _fields(given: Parameters, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield the parameters of `given` and of nested ones by dotted name, their values as defaults."""
    for key, field in type(given).model_fields.items():
        value = getattr(given, key)
        if isinstance(value, Parameters):
            yield from _fields(value, f"{prefix}{key}.")
        else:
            own = copy(field)
            own.default, own.default_factory = value, None
            yield f"{prefix}{key}", own


def _as_published(router: type[Router]) -> str:
    """Return how the default relates to the paper: no paper, the default, or the profile that differs."""
    if router.as_published is None:
        return "no paper"
    if not router.as_published:
        return "the default"
    return f"profile {AS_PUBLISHED} changes {', '.join(router.as_published)}"


def _about(router: type) -> str:
    """Return the first sentence of a router's docstring."""
    paragraph = " ".join((router.__doc__ or "").strip().partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", paragraph, maxsplit=1)[0]
