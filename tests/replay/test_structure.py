"""The mesh of forwarders and the trees of events in the viewer are those of the facts."""

import shutil

import pytest

from roamcast.facts.tables import Facts
from roamcast.facts.tracks import Tracks
from roamcast.replay.recording import Recording
from roamcast.replay.viewer import make_viewer
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate
from roamcast.why.presentation.explanation import route_of
from roamcast.why.trail.trail import Trail

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
LATER = 1e-3
"After a fact of which the state is looked at [s]."


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Facts of 60 s of the shopping district under ODMRP and TPSR."""
    world = load(locate("shopping"), ["duration='60 s'", "warmup='20 s'", "location=true"])
    found = {}
    for protocol in ("odmrp", "tpsr"):
        folder = tmp_path_factory.mktemp(protocol)
        simulate(world, protocol, 1, folder=folder)
        found[protocol] = Facts.read(folder)
    return found


@pytest.fixture
def visit(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def visit(*facts):
            file = tmp_path / "replay.html"
            file.write_text(make_viewer([Recording(each) for each in facts]))
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.on("pageerror", lambda error: pytest.fail(str(error)))
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            return page

        yield visit
        browser.close()


def test_the_mesh_joins_forwarders_in_range_of_each_other(visit, runs):
    facts = runs["odmrp"]
    page = visit(facts)
    result = [row for row in facts["states"].to_pylist() if row["name"] == "forwarding_groups"]
    moment = max(
        result, key=lambda row: sum(1 if r["value"] else -1 for r in result if r["time"] <= row["time"])
    )
    moment = moment["time"] + LATER
    page.evaluate(f"replay.goTo({moment}); replay.state.layers.mesh = true; replay.changed()")
    found = page.evaluate(f"replay.run.moveTo({moment}), replay.structure.findMesh(replay.run, {moment})")
    forwards = dict.fromkeys(range(facts.run.nodes), 0.0)
    for row in result:
        if row["time"] <= moment:
            forwards[row["node"]] = row["value"]
    members = {node for node, groups in forwards.items() if groups}
    ends = {publication >> 32 for publication in facts["publications"]["publication"].to_pylist()}
    places = Tracks(facts["legs"], facts.run.nodes).positions(moment)
    near = {
        (a, b)
        for a in range(facts.run.nodes)
        for b in range(a + 1, facts.run.nodes)
        if ((places[a] - places[b]) ** 2).sum() <= facts.run.range**2
        and ({a, b} <= members | ends)
        and {a, b} & members
    }
    assert {tuple(link) for link in found} == near and len(near) > 5
    page.wait_for_selector("#legend >> text=mesh of forwarders")
    assert page.locator("#layers >> text=mesh of forwarders").count() == 1


def test_the_ways_of_the_last_events_are_those_of_why(visit, runs):
    facts = runs["tpsr"]
    page = visit(facts)
    assert page.locator("#layers >> text=mesh of forwarders").count() == 0
    moment = sorted(facts["deliveries"]["time"].to_pylist())[-1] + LATER
    page.evaluate(f"replay.goTo({moment}); replay.state.layers.ways = true; replay.changed()")
    page.wait_for_selector("#legend >> text=routes of the last events")
    found = page.evaluate(
        """async () => {
            replay.recentWays(replay.run, 0);
            await new Promise((done) => setTimeout(done));
            const told = [...replay.ways[0]].filter(([, steps]) => steps);
            return told.map(([event, steps]) => [replay.run.eventName(event),
                [...steps.values()].filter((step) => step.sent).map((step) => [step.node, step.parent])]);
        }"""
    )
    trail = Trail(facts)
    assert len(found) == 6
    checked = 0
    for name, steps in found:
        publisher, sequence = map(int, name.split("/"))
        publication = publisher << 32 | sequence
        parents = dict(steps)
        for (event, node), time in trail.delivered.items():
            if event == publication and node != publisher:
                hops = [hop.node for hop in route_of(trail, event, node, time)]
                assert parents[node] == hops[-1]
                checked += 1
    assert checked > 5
