from pathlib import Path

import pytest

from roamcast.facts.tables import Facts
from roamcast.replay.recording import Recording
from roamcast.replay.viewer import make_viewer
from roamcast.scenario.read import load
from roamcast.sim.run import simulate

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"


@pytest.fixture(scope="session")
def shopping(tmp_path_factory):
    """Folders of the facts of 90 s of the shopping district, by protocol."""
    world = load(SHOPPING, ["duration='90 s'", "warmup='30 s'"])
    folders = {}
    for protocol in ("cbr", "clone"):
        folders[protocol] = tmp_path_factory.mktemp(protocol)
        simulate(world, protocol, 1, folder=folders[protocol])
    return folders


@pytest.fixture(scope="session")
def facts(shopping):
    """The facts of CBR."""
    return Facts.read(shopping["cbr"])


@pytest.fixture(scope="session")
def pages(shopping, tmp_path_factory):
    """Addresses of replay files: of each protocol, and of both."""
    folder = tmp_path_factory.mktemp("pages")
    recordings = {name: Recording(Facts.read(place)) for name, place in shopping.items()}
    both = [*recordings.values()]
    made = {name: [each] for name, each in recordings.items()} | {"both": both, "four": both + both}
    for name, shown in made.items():
        (folder / f"{name}.html").write_text(make_viewer(shown))
    return {name: (folder / f"{name}.html").as_uri() for name in made}


@pytest.fixture
def visit(browser):
    """Open a page that must neither ask the network nor report an error."""
    opened = []

    def visit(address, **settings):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | settings)
        page = context.new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)
        page.on(
            "request", lambda asked: page.problems.append(asked.url) if asked.url.startswith("http") else 0
        )
        page.goto(address)
        page.wait_for_selector("html[data-ready=yes]")
        opened.append((context, page))
        return page

    yield visit
    for context, page in opened:
        assert page.problems == []
        context.close()
