"""Questions: which protocols are compared in which scenario, and the command line that asks the same."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from roamcast.campaign.campaign import MOST_SEEDS
from roamcast.errors import UserError
from roamcast.routing.catalogue import find
from roamcast.scenario.read import split_override
from roamcast.studio.editing.toml_edit import to_toml
from roamcast.studio.security import RequestBody
from roamcast.studio.workspace import LOCAL, SHIPPED, Workspace

_OPTIONAL = ("goal", "deadline")
"Options of `roamcast compare` that a question has if the command has them."

_CHOICES = re.compile(r": ((?:[\w-]+, )+[\w-]+ or [\w-]+)\.")
"Choices as the help of an option lists them."

_Text = Annotated[str, Field(max_length=200)]


class Question(RequestBody):
    """A comparison that a user asks for."""

    world: Annotated[str, Field(max_length=500)]
    protocols: Annotated[list[_Text], Field(min_length=1, max_length=64)]
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)] = 5
    set: Annotated[list[_Text], Field(max_length=64)] = Field(default_factory=list)
    "Changed keys of the scenario, as `--set` takes them."
    options: dict[str, _Text] = Field(default_factory=dict)
    "Values of optional options of `roamcast compare`."
    result: Annotated[str, Field(max_length=500)] | None = None
    "The result to continue; a new folder if absent."

    def words(self, workspace: Workspace) -> list[str]:
        """Return the command line after `roamcast`; raise UserError for what it could not run."""
        world = workspace.find_world(self.world)
        if len(set(self.protocols)) != len(self.protocols):
            raise UserError("name each protocol once")
        for name in self.protocols:
            find(name)
        for pair in self.set:
            split_override(pair)
        known = find_options()
        for name in self.options:
            if name not in known:
                raise UserError(f"--{name[:40]}: roamcast compare has no such option here")
        words = [
            "compare",
            world.argument,
            "--protocols",
            ",".join(self.protocols),
            "--seeds",
            str(self.seeds),
        ]
        words += [word for pair in self.set for word in ("--set", pair)]
        words += [word for name, value in self.options.items() if value for word in (f"--{name}", value)]
        if self.result is not None:
            words += ["--out", str(workspace.find_result(self.result).relative_to(workspace.folder))]
        if any(word.startswith("-") for word in (world.argument, self.protocols[0])):
            raise UserError("names that begin with - cannot be asked about")
        return words

    def command(self, workspace: Workspace) -> str:
        """Return the command line that asks the same in a terminal."""
        return shlex.join(["roamcast", *self.words(workspace)])


def find_options() -> dict[str, dict[str, Any]]:
    """Return the optional options that `roamcast compare` has, with help and choices."""
    from roamcast.cli.campaigns.compare import command

    found: dict[str, dict[str, Any]] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if name in _OPTIONAL:
            about = next((each for each in parameter.annotation.__metadata__), None)
            help, hint = (str(getattr(about, name, "") or "") for name in ("help", "metavar"))
            listed = _CHOICES.search(help)
            choices = re.split(r", | or ", listed[1]) if listed else []
            found[name] = {"help": help, "choices": choices, "hint": hint}
    return found


def read_question(data: Any, seeds: int, result: str, workspace: Workspace) -> Question | None:
    """Return the question of a result as its campaign.json records it; None if it is no comparison of ours.

    The file may come from elsewhere: nothing of it is run but a question that passes the same checks as one
    from the page.
    """
    try:
        if not isinstance(data, Mapping) or not isinstance(data["compare"], str):
            return None
        settings = [f"{key}={to_toml(value)}" for key, value in dict(data.get("set") or {}).items()]
        options = {name: str(data[name]) for name in _OPTIONAL if data.get(name) and name in find_options()}
        question = Question(
            world=_find_world(data["compare"], workspace),
            protocols=[str(name) for name in data["protocols"]],
            seeds=seeds,
            set=settings,
            options=options,
            result=result,
        )
        question.words(workspace)
    except (UserError, ValueError, KeyError, TypeError):
        return None
    return question


def _find_world(named: str, workspace: Workspace) -> str:
    if not Path(named).is_absolute():
        return f"{SHIPPED}/{named}"
    for world in workspace.worlds():
        if world.id.startswith(f"{LOCAL}/") and world.file == Path(named):
            return world.id
    raise UserError("the scenario is not in this folder")
