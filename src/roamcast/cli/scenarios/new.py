"""The command `roamcast new`: create the files of a new router."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from roamcast.errors import UserError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

_ROUTER = '''"""The protocol NAME: a node repeats each new message with some probability."""

from roamcast.routing.router import Category, Drop, Message, Parameters, Publication, Role, Router
from roamcast.routing.state.seen import Seen


class CLASSData(Message, number=130, category=Category.EVENT, role=Role.EVENT):
    """A message that carries a publication."""

    publication: Publication


class CLASSParameters(Parameters):
    """The parameters of NAME."""

    probability: float = 1.0
    "Probability that a node repeats a message that it receives for the first time."


class CLASS(Router):
    """Repeat each new message with some probability."""

    parameters_type = CLASSParameters
    messages = (CLASSData,)

    def start(self):
        self.seen = Seen(4096)

    def publish(self, publication):
        self.seen.add(publication.id)
        self.host.broadcast(CLASSData(publication))

    def receive(self, message, sender, signal):
        publication = message.publication
        if not self.seen.add(publication.id):
            return Drop.DUPLICATE
        if self.matches(publication.event):
            self.host.deliver(publication)
        if self.host.random.random() >= self.parameters.probability:
            return Drop.SUPPRESSED
        wait = 0.01 * self.host.random.random()  # so that neighbours do not all send at once
        self.host.call_later(wait, self.host.broadcast, message)
        return None
'''

_TEST = '''"""Stories of NAME on a mesh without a radio, in virtual time."""

from MODULE import CLASS, CLASSData

from roamcast import EventType, Filter, Mesh

NEWS = EventType("news", {})


def test_an_event_reaches_a_subscriber_over_several_hops():
    mesh = Mesh.line(5, CLASS)
    mesh.subscribe(4, Filter.everything(NEWS))
    mesh.publish(0, NEWS())
    mesh.run(for_=1)
    assert mesh.delivered == [(4, NEWS())]
    assert len(mesh.sent_of(CLASSData)) == 5


def test_an_event_does_not_pass_a_node_that_is_off():
    mesh = Mesh.line(3, CLASS)
    mesh.subscribe(2, Filter.everything(NEWS))
    mesh.kill(1)
    mesh.publish(0, NEWS())
    mesh.run(for_=1)
    assert mesh.delivered == []
'''

_PROJECT = """[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "roamcast-NAME"
version = "0.1.0"
dependencies = ["roamcast"]

[project.entry-points."roamcast.routers"]
NAME = "MODULE:CLASS"

[tool.setuptools]
py-modules = ["MODULE"]
"""


@app.callback()
def new() -> None:
    """Create the files of a new router."""


@app.command("router")
def router(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the protocol, for example my-gossip.")],
    package: Annotated[
        bool, typer.Option("--package", help="Also write a pyproject.toml that registers the protocol.")
    ] = False,
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="Folder of the new files; by default this one.")
    ] = Path(),
) -> None:
    """Create a working router and its test, as a starting point."""
    files = write_router(name, into, package)
    module = name.replace("-", "_")
    for file in files:
        print(f"wrote {file}")
    test = next(file for file in files if file.name.startswith("test_"))
    own = next(file for file in files if file.name == f"{module}.py")
    print(f"test it with: python -m pytest {test}")
    print(f"run it with: roamcast run shopping --router {own}:{_class(name)}")


def write_router(name: str, folder: Path, package: bool) -> list[Path]:
    """Write the files of the protocol `name` into `folder` and return their paths; overwrite nothing."""
    from roamcast.routing.catalogue import names

    module = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*", name) or len(name) > 60:
        raise UserError(
            f"{name!r} is not a protocol name; expected lower-case letters, digits and hyphens, as in "
            "my-gossip"
        )
    if name in names():
        raise UserError(f"the protocol {name!r} exists already; choose another name")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or module in ("roamcast", "test"):
        raise UserError(
            f"the module of {name!r} would hide the Python module {module!r}; choose another name"
        )
    texts = {f"{module}.py": _ROUTER, f"test_{module}.py": _TEST}
    if package:
        texts["pyproject.toml"] = _PROJECT
    there = [file for file in (folder / each for each in texts) if file.exists()]
    if there:
        raise UserError(f"{there[0]}: exists already; remove it, or choose another folder with --into")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            filled = text.replace("CLASS", _class(name)).replace("MODULE", module).replace("NAME", name)
            (folder / file).write_text(filled, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from None
    return [folder / file for file in texts]


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))
