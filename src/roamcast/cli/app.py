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
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

import roamcast
from roamcast.errors import UserError


class Command(NamedTuple):
    """The module of a command, and its line in `roamcast --help`."""

    module: str
    help: str


class Section(NamedTuple):
    """A section of `roamcast --help`: its title, and the commands of one folder of `roamcast.cli`."""

    title: str
    commands: dict[str, str]


SECTIONS: dict[str, Section] = {
    "campaigns": Section(
        "Comparisons and campaigns",
        {
            "compare": "Compare protocols in one scenario on common seeds.",
            "league": "Run every protocol in every world and rank them.",
            "advise": "Predict what each protocol achieves in a scenario.",
            "reproduce": "Run the evaluation of a paper and judge its claims.",
            "campaign": "Run, watch and report a campaign; maintain its folder.",
            "advisor": "Make the advisor's data on Spark, and train its models.",
        },
    ),
    "scenarios": Section(
        "Scenarios",
        {
            "run": "Run one scenario under one protocol and print its metrics.",
            "protocols": "List the protocols, or the parameters of one.",
            "map": "Draw a map of a scenario: nodes, zones, publishers, movement.",
            "check": "Check scenario and campaign files without running them.",
            "worlds": "Draw random scenarios from declared ranges.",
            "ingest": "Import ns-2 traces as facts, and movement traces as scenarios.",
            "new": "Write the first files of a router.",
            "swarm": "Test protocols with generated faults against invariants.",
        },
    ),
    "results": Section(
        "Results",
        {
            "why": "Explain why events were not delivered or requests not satisfied.",
            "trace": "Print what one node did in a run, in order of time.",
            "replay": "Show a run as an animated map in the browser, as one HTML file.",
            "diff": "Show the first differences between two runs.",
            "sql": "Query the tables of a campaign or of runs with SQL.",
            "studio": "Edit, compare, replay and query in the browser, locally.",
        },
    ),
    "spark": Section(
        "Tables and Spark",
        {
            "lake": "Check, register, migrate and prune the tables of a campaign.",
            "cluster": "Check whether a Spark cluster can run campaigns.",
            "session": "Keep a Spark session warm for the next commands.",
        },
    ),
    "filters": Section("Content", {"filter": "Explain, match and group subscriptions."}),
    "nodes": Section(
        "Live nodes",
        {
            "node": "Run a live node.",
            "publish": "Publish an event on a live node.",
            "subscribe": "Print the events that a live node receives.",
            "top": "Show neighbours, routes and counters of a live node.",
            "watch": "Show metrics of a live network while it runs.",
            "key": "Create and show network keys of live nodes.",
            "testbed": "Run one scenario on live nodes, one process each.",
        },
    ),
}
"All commands; a new command needs a line here and a module of its name in the folder of its section."

COMMANDS = {
    name: Command(f"roamcast.cli.{folder}.{name}", help)
    for folder, section in SECTIONS.items()
    for name, help in section.commands.items()
}


class SectionedGroup(TyperGroup):
    """The command `roamcast`; its help lists the commands by section."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of each section below its title."""
        width = max(map(len, COMMANDS))
        for section in SECTIONS.values():
            with formatter.section(section.title):
                formatter.write_dl([(name.ljust(width), help) for name, help in section.commands.items()])


def build(verb: str | None) -> typer.Typer:
    """Return the command-line application with only the module of the command `verb` imported."""
    app = typer.Typer(
        name="roamcast",
        cls=SectionedGroup,
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
