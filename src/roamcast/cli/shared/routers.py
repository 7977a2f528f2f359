"""The option `--router FILE.py:CLASS` of the commands that take a protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from roamcast.campaign.campaign import Campaign

Routers = Annotated[
    list[str] | None,
    typer.Option(
        "--router",
        metavar="FILE.py:CLASS",
        help="Add the router in this file as a protocol, named after its class. May be repeated.",
    ),
]


def add_routers(given: Iterable[str] | None) -> list[str]:
    """Add routers in files to the protocols of this process; return their names."""
    from roamcast.routing.router_file import add_file

    return [add_file(each) for each in given or ()]


def join_campaign(campaign: Campaign, names: Iterable[str]) -> Campaign:
    """Return `campaign` with the protocols `names` in every sweep, except those that it names itself."""
    from roamcast.campaign.campaign import Variant

    known = {label if each.router is None else each.router for label, each in campaign.protocols.items()}
    new = [name for name in names if name not in known]
    sweeps = {
        key: sweep.model_copy(update={"protocols": [*sweep.protocols, *new]})
        for key, sweep in campaign.sweeps.items()
    }
    protocols = campaign.protocols | {name: Variant() for name in new}
    return campaign.model_copy(update={"protocols": protocols, "sweeps": sweeps})


def spell_routers(given: Iterable[str] | None) -> list[str]:
    """Return the command-line arguments that repeat the option."""
    return [word for each in given or () for word in ("--router", each)]
