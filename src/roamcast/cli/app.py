"""The table of commands, and the place where user errors become exit codes.

Only the module of the chosen command is imported, so that `roamcast --help` does not load heavy libraries. A
command's module has a function `command`, or an `app` with subcommands.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, NamedTuple

import typer

import roamcast
from roamcast.errors import UserError


class Command(NamedTuple):
    """The module of a command, and its line in `roamcast --help`."""

    module: str
    help: str


COMMANDS: dict[str, Command] = {
    "run": Command("roamcast.cli.run", "Run one scenario under one protocol and print its metrics."),
    "why": Command("roamcast.cli.why", "Explain why events were not delivered or requests not satisfied."),
    "trace": Command("roamcast.cli.trace", "Print what one node did in a run, in order of time."),
    "replay": Command(
        "roamcast.cli.replay", "Show a run as an animated map in the browser, as one HTML file."
    ),
    "diff": Command("roamcast.cli.diff", "Show the first differences between two runs."),
    "protocols": Command("roamcast.cli.protocols", "List the protocols, or the parameters of one."),
    "new": Command("roamcast.cli.new", "Write the first files of a router."),
    "map": Command("roamcast.cli.map", "Draw a map of a scenario: nodes, zones, publishers, movement."),
    "check": Command("roamcast.cli.check", "Check scenario and campaign files without running them."),
    "compare": Command("roamcast.cli.compare", "Compare protocols in one scenario on common seeds."),
    "league": Command("roamcast.cli.league", "Run every protocol in every world and rank them."),
    "advise": Command("roamcast.cli.advise", "Predict what each protocol achieves in a scenario."),
    "worlds": Command("roamcast.cli.worlds", "Draw random scenarios from declared ranges."),
    "advisor": Command("roamcast.cli.advisor", "Make the advisor's data on Spark, and train its models."),
    "studio": Command("roamcast.cli.studio", "Edit, compare, replay and query in the browser, locally."),
    "campaign": Command("roamcast.cli.campaign", "Run, watch and report a campaign; maintain its folder."),
    "lake": Command("roamcast.cli.lake", "Check, register, migrate and prune the tables of a campaign."),
    "cluster": Command("roamcast.cli.cluster", "Check whether a Spark cluster can run campaigns."),
    "session": Command("roamcast.cli.session", "Keep a Spark session warm for the next commands."),
    "reproduce": Command("roamcast.cli.reproduce", "Run the evaluation of a paper and judge its claims."),
    "swarm": Command("roamcast.cli.swarm", "Test protocols with generated faults against invariants."),
    "sql": Command("roamcast.cli.sql", "Query the tables of a campaign or of runs with SQL."),
    "ingest": Command(
        "roamcast.cli.ingest", "Import ns-2 traces as facts, and movement traces as scenarios."
    ),
    "filter": Command("roamcast.cli.filter", "Explain, match and group subscriptions."),
    "node": Command("roamcast.cli.node", "Run a live node."),
    "publish": Command("roamcast.cli.publish", "Publish an event on a live node."),
    "subscribe": Command("roamcast.cli.subscribe", "Print the events that a live node receives."),
    "top": Command("roamcast.cli.top", "Show neighbours, routes and counters of a live node."),
    "watch": Command("roamcast.cli.watch_live", "Show metrics of a live network while it runs."),
    "testbed": Command("roamcast.cli.testbed", "Run one scenario on live nodes, one process each."),
    "key": Command("roamcast.cli.key", "Create and show network keys of live nodes."),
}
"All commands by name; a new command needs one entry here and a module."


def build(verb: str | None) -> typer.Typer:
    """Return the command-line application with only the module of the command `verb` imported."""
    app = typer.Typer(
        name="roamcast",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_top)
    for name, (module, help) in COMMANDS.items():
        loaded = import_module(module) if name == verb else None
        if loaded is not None and hasattr(loaded, "app"):
            app.add_typer(loaded.app, name=name, help=help)
        else:
            app.command(name, help=help)(_unloaded if loaded is None else loaded.command)
    return app


def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Simulate content-based publish/subscribe in mobile ad hoc networks."""
    if version:
        print(f"roamcast {roamcast.__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def _unloaded() -> None:
    """Act as a placeholder for a command whose module is not imported."""


INTERRUPTED = 130
"Exit code after Ctrl-C."


def invoke(arguments: Sequence[str], loaded: Callable[[], object] = lambda: None) -> int:
    """Run the command line with `arguments` and return the exit code.

    User errors give 2, Ctrl-C gives 130. `loaded` is called after the modules of the command are imported.
    """
    verb = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        try:
            app = build(verb)
            loaded()
            app(list(arguments), standalone_mode=True, prog_name="roamcast")
        finally:
            sys.stdout.flush()  # inside the try, so that a failure is reported
    except UserError as error:
        print(f"roamcast: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        _silence_stdout()
        return 1
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _silence_stdout()
        print(f"roamcast: cannot write: {error.strerror}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, SystemExit) as end:
        return _exit_code(end)
    return 0


def _exit_code(end: KeyboardInterrupt | SystemExit) -> int:
    """Return the exit code; print a line after Ctrl-C unless the command has printed one.

    Typer turns a KeyboardInterrupt into an exit with the interrupt as its cause; commands that handle an
    interrupt themselves raise `typer.Exit`.
    """
    cause = getattr(end.__context__, "__cause__", None)
    if isinstance(end, KeyboardInterrupt) or isinstance(cause, KeyboardInterrupt):
        print("roamcast: interrupted", file=sys.stderr)
        return INTERRUPTED
    return end.code if isinstance(end.code, int) else 0 if end.code is None else 1


def _silence_stdout() -> None:
    """Redirect stdout to /dev/null, so that Python's flush at exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
