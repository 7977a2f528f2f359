"""Generate the command-line reference: `python -m roamcast.cli.reference`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from roamcast.cli.app import COMMANDS, build

_HEAD = """# Command line

Generated from the code; `roamcast COMMAND --help` prints the same.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | `diff` found a difference, `swarm` a broken law, `campaign verify` or `lake check` an error |
| 1 | with `--strict`: a claim does not hold, or a run failed |
| 2 | a mistake in a command or in a file: one line on stderr says what and where |
| 3 | runs failed, or a report has stale tables |
"""


def page() -> str:
    """Return the reference as Markdown: each command with its arguments and options."""
    lines = [_HEAD]
    for name, verb in COMMANDS.items():
        commands: dict[str, Any] = vars(typer.main.get_command(build(name)))["commands"]
        lines += [f"\n## roamcast {name}\n", verb.help]
        lines += _describe(commands[name], f"roamcast {name}")
    return "\n".join(lines) + "\n"


def _describe(command: Any, path: str) -> Iterator[str]:
    """Yield the lines of one command, or of the commands below it."""
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from (f"\n### {path} {name}\n", _cell(child.help or ""))
            yield from _describe(child, f"{path} {name}")
        return
    context = command.context_class(command, info_name=path)
    yield from ("\n```text", " ".join([path, *command.collect_usage_pieces(context)]), "```\n")
    yield from ("| argument or option | meaning |", "|---|---|")
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            yield f"| `{_cell(record[0])}` | {_cell(record[1])} |"


def _cell(text: str) -> str:
    """Return `text` in one line, escaped for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
