"""roamcast protocols: what there is to choose from."""

from __future__ import annotations

import json as json_
from typing import Annotated, Any

import typer

from roamcast.routing import catalogue


def command(
    name: Annotated[str | None, typer.Argument(help="Tell this protocol's parameters.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Tell it as JSON.")] = False,
) -> None:
    """List the protocols, or one protocol's parameters."""
    if name is None:
        rows = [{"protocol": known, "about": _about(catalogue.find(known))} for known in catalogue.names()]
    else:
        rows = parameters(name)
    if json:
        print(json_.dumps(rows))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if name is not None:
        console.print(f"[bold]{name}[/]: {_about(catalogue.find(name))}", highlight=False)
    if not rows:
        console.print("It has no parameters.")
        return
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console.print(table)


def parameters(name: str) -> list[dict[str, Any]]:
    """The parameters of a protocol: each with its default and its meaning."""
    fields = catalogue.find(name).parameters_type.model_fields
    return [
        {
            "parameter": key,
            "default": field.get_default(call_default_factory=True, validated_data={}),
            "about": field.description or "",
        }
        for key, field in fields.items()
    ]


def _about(router: type) -> str:
    return (router.__doc__ or "").strip().partition("\n")[0]
