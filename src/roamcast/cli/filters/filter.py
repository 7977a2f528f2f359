"""The command `roamcast filter`: explain subscriptions, match them with events, group them."""

from __future__ import annotations

import typer

from roamcast.cli.filters.explain import explain
from roamcast.cli.filters.groups import groups
from roamcast.cli.filters.match import match

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for each in (explain, match, groups):
    app.command()(each)
