"""roamcast protocols: what there is to choose from."""

from __future__ import annotations

import json as json_
from typing import Annotated, Any

import typer

from roamcast.routing import catalogue
from roamcast.routing.profiles import AS_PUBLISHED
from roamcast.routing.router import Parameters, Router


def command(
    name: Annotated[str | None, typer.Argument(help="Tell this protocol's parameters.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Tell it as JSON.")] = False,
) -> None:
    """List the protocols, or one protocol's parameters."""
    if name is None:
        rows = [
            {
                "protocol": known,
                "about": _about(catalogue.find(known)),
                "as published": _as_published(catalogue.find(known)),
            }
            for known in catalogue.names()
        ]
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
    """The parameters of a protocol: each with its default, its value as published, and its meaning."""
    router = catalogue.find(name)
    fields = router.parameters_type.model_fields
    profile = router.as_published
    rows = []
    for key, field in fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, Parameters):
            default = default.model_dump(mode="json")
        row: dict[str, Any] = {"parameter": key, "default": default, "about": field.description or ""}
        if profile:
            changed = {given: value for given, value in profile.items() if given.partition(".")[0] == key}
            row["as published"] = ", ".join(
                f"{given.partition('.')[2]} = {value}" if "." in given else str(value)
                for given, value in changed.items()
            )
        rows.append(row)
    return rows


def _as_published(router: type[Router]) -> str:
    """Whether the default is the protocol of its paper, and else what the profile switches off."""
    if router.as_published is None:
        return "no paper"
    if not router.as_published:
        return "the default"
    return f"profile {AS_PUBLISHED}: other {', '.join(router.as_published)}"


def _about(router: type) -> str:
    return (router.__doc__ or "").strip().partition("\n")[0]
