"""roamcast protocols: what there is to choose from."""

from __future__ import annotations

import json as json_
from typing import Annotated, Any

import typer

from roamcast.routing import catalogue
from roamcast.routing.profiles import AS_PUBLISHED
from roamcast.routing.router import Parameters, Router
from roamcast.scenario.reference import describe_default


def command(
    name: Annotated[str | None, typer.Argument(help="Show the parameters of this protocol.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the protocols, or the parameters of one."""
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
    shown = [key for key in rows[0] if key != "default"]  # as a file writes it, with its unit
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for key in shown:
        table.add_column("default" if key == "written" else key, overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(row[key])) for key in shown))
    console.print(table, highlight=False)


def parameters(name: str) -> list[dict[str, Any]]:
    """The parameters of a protocol: default (in SI units, and as written), value as published, meaning."""
    router = catalogue.find(name)
    fields = router.parameters_type.model_fields
    profile = router.as_published
    rows = []
    for key, field in fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, Parameters):
            default = default.model_dump(mode="json")
        row: dict[str, Any] = {"parameter": key, "default": default, "written": describe_default(field)}
        row["about"] = field.description or ""
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
