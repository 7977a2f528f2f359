"""The viewer in Chromium: what it shows is what the facts say, and a person finds a cause in a few clicks."""

import json
import random

import msgspec
import pytest

from roamcast.content.filter import Filter
from roamcast.facts.matching import Matcher
from roamcast.facts.tables import Facts
from roamcast.facts.tracks import Tracks
from roamcast.replay.recording import Recording
from roamcast.replay.viewer import make_viewer
from roamcast.why.presentation.explanation import explain_event, route_of
from roamcast.why.trail.trail import Trail
from tests.chromium import CONTRAST, NAMELESS, browser, needs_chromium, wait_until

__all__ = ["browser"]

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def trail(facts):
    return Trail(facts)


PLACES = "t => { const run = replay.runs[0]; run.moveTo(t); return [...run.x, ...run.y]; }"


def test_nodes_are_where_their_legs_put_them(visit, pages, facts):
    page = visit(pages["cbr"])
    tracks = Tracks(facts["legs"], facts.run.nodes)
    for moment in (0.0, 12.345678, 44.4, 90.0):
        found = page.evaluate(PLACES, moment)
        assert found == pytest.approx(tracks.positions(moment).T.ravel().tolist(), abs=1e-9)


FRAMES = """() => {
  const found = [];
  replay.airs[0].frames(0, 10, (frames, i) => found.push([frames.node[i], frames.to[i] - 1]));
  return found;
}"""


def test_frames_of_a_time_are_those_of_the_facts(visit, pages, facts):
    page = visit(pages["cbr"])
    shown = page.evaluate(FRAMES)
    sent = facts["transmissions"].to_pandas().sort_values("time", kind="stable")
    sent = sent[sent["time"] <= 10]
    assert shown == sent[["node", "to"]].to_numpy().tolist() and len(shown) > 100


def test_the_way_to_a_node_is_that_of_why(visit, pages, trail):
    page = visit(pages["cbr"])
    delivered = random.Random(1).sample(sorted(trail.delivered), 60)
    for publication, node in delivered:
        if node == trail.publisher(publication):
            continue
        hops = route_of(trail, publication, node, trail.delivered[publication, node])
        expected = [*(hop.node for hop in hops), node]
        found = page.evaluate(
            """async ([name, node]) => {
                await replay.chooseEvent(replay.run.eventNumber(name));
                const steps = replay.chosen[0].steps, path = [];
                for (let at = node; at >= 0; at = steps.get(at).parent) path.unshift(at);
                return path;
            }""",
            [f"{publication >> 32}/{publication & 0xFFFFFFFF}", node],
        )
        assert found == expected, (publication, node)


def test_a_link_opens_the_event_the_node_and_the_story_of_why(visit, pages, facts, trail):
    publication, node = trail.misses()[0]
    name = f"{publication >> 32}/{publication & 0xFFFFFFFF}"
    page = visit(f"{pages['cbr']}#event={name}&node={node}")
    page.wait_for_selector(f"#panel h3:text-is('Why node {node} did not receive it')")
    story = explain_event(facts, publication, node).story
    shown = page.locator("#panel .story li").all_inner_texts()
    assert shown and shown == story[-1 - len(shown) : -1]
    assert page.locator("#panel .verdict").inner_text() in story[-1]
    assert f"event={name}&node={node}" in page.evaluate("replay.link")


def test_a_cause_of_loss_is_found_in_three_clicks(visit, pages, facts, trail):
    page = visit(pages["cbr"])
    page.locator("#panel .cause").first.click()
    page.locator("#panel .case").first.click()
    page.wait_for_selector("#panel .verdict")
    sentences = page.locator("#panel .story li").all_inner_texts()
    event, node = page.evaluate("[replay.run.eventName(replay.state.event), replay.state.node]")
    publisher, sequence = map(int, event.split("/"))
    explanation = explain_event(facts, publisher << 32 | sequence, node)
    assert explanation.outcome == "lost" and sentences == explanation.story[-1 - len(sentences) : -1]


FILTERS = [
    "/coupon[zone = 6]",
    "/coupon[zone=6]",
    "/coupon[zone > 3 and zone <= 5]",
    "/coupon[zone != 2]",
    "/coupon",
    "/other[zone = 1]",
    "/coupon[zone >= 9]",
]


def test_search_finds_the_events_that_a_filter_matches(visit, pages, facts):
    page = visit(pages["cbr"])
    matcher = Matcher(facts.run)
    events = facts["publications"].to_pandas().sort_values(["time", "publication"])["event"].tolist()
    for filter in FILTERS:
        page.fill("#query", filter)
        page.press("#query", "Enter")
        found = page.evaluate("replay.state.found.events")
        try:
            parsed = Filter.parse(filter, matcher.types)
        except Exception:  # no such type or value: nothing matches
            assert found == []
            continue
        assert found == [i for i, event in enumerate(events) if parsed.matches(matcher.event(event))], filter
    page.fill("#query", "/coupon[starts-with(zone, 'x')]")
    page.press("#query", "Enter")
    page.wait_for_selector("#panel :text('not understood')")


def test_keys_move_the_clock_and_play(visit, pages, facts):
    page = visit(pages["cbr"])
    times = sorted(facts["transmissions"]["time"].to_pylist())
    page.evaluate("replay.goTo(50)")
    after = min(each for each in times if each > 50)
    page.keyboard.press(".")
    assert page.evaluate("replay.state.t") == pytest.approx(after, abs=2e-6)
    page.keyboard.press("ArrowRight")
    assert page.evaluate("replay.state.t") == pytest.approx(after + 1, abs=2e-6)
    page.keyboard.press("]")
    assert page.evaluate("replay.state.speed") == pytest.approx(0.4)
    page.keyboard.press("Space")
    wait_until(page, "replay.state.t > 51.2")
    page.keyboard.press("Space")
    assert not page.evaluate("replay.state.playing")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"


def test_a_tap_chooses_the_node_under_it_and_it_can_be_followed(visit, pages):
    page = visit(pages["cbr"])
    box = page.locator(".pane canvas").bounding_box()
    x, y = page.evaluate("[replay.view.x(replay.runs[0].x[10]), replay.view.y(replay.runs[0].y[10])]")
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#panel h3:text-is('Node 10')")
    page.click("#panel button:text-is('Follow')")
    page.evaluate("replay.goTo(80)")
    wait_until(page, "replay.state.follow && Math.abs(replay.view.centre[0] - replay.runs[0].x[10]) < 1e-9")


def test_state_colours_and_its_chart_follow_what_routers_declare(visit, pages, shopping):
    page = visit(pages["clone"])
    page.click("#view summary")
    page.select_option("#colour", "state:community")
    assert page.locator(".chart").count() == 5
    states = Facts.read(shopping["clone"])["states"].to_pandas()
    last = states[(states["name"] == "community") & (states["time"] <= 60)].groupby("node")["value"].last()
    found = page.evaluate(
        "[...Array(51).keys()].map(node => replay.run.state('community', node, 60) ?? null)"
    )
    assert found == [last.get(node) for node in range(51)]


def test_two_protocols_share_one_clock_and_one_event(visit, pages):
    page = visit(pages["both"])
    assert page.locator(".pane").count() == 2
    page.evaluate("replay.chooseEvent(replay.run.eventNumber('0/100'))")
    page.wait_for_selector("#panel .sides")
    assert page.locator("#panel .sides li").count() == 2
    assert page.evaluate("replay.chosen.map(each => each.event >= 0)") == [True, True]


def test_the_log_is_filtered_by_kind_and_node(visit, pages):
    page = visit(f"{pages['cbr']}#t=60&node=10")
    page.click("#tab-log")
    page.wait_for_selector("#panel .entry")
    for kind in ("sent", "dropped", "published"):
        page.locator(f"#log-filters label:text-is('{kind}') input").uncheck()
    page.locator("#log-filters label:text-is('only chosen node') input").check()
    wait_until(
        page, "![...document.querySelectorAll('#panel .kind')].some(each => each.textContent !== 'delivered')"
    )
    nodes = set(page.locator("#panel .entry .node").all_inner_texts())
    assert nodes <= {"node 10"}


GREY = """([x, y]) => {
  for (const key of Object.keys(replay.state.layers)) replay.state.layers[key] = false;
  replay.state.categories.clear();
  replay.draw();
  const canvas = document.querySelector(".pane canvas"), ratio = canvas.width / replay.view.size[0];
  const spot = [replay.view.x(x) * ratio, replay.view.y(y) * ratio, 1, 1].map(Math.round);
  return [...canvas.getContext("2d").getImageData(...spot).data.slice(0, 3)];
}"""
"Returns the colour of a point of the map where no frame is drawn."


def test_buildings_are_drawn_with_their_courtyards(visit, facts, tmp_path):
    plain = msgspec.to_builtins(facts.run)
    polygon, hole = [
        [[x, y], [x + w, y], [x + w, y + w], [x, y + w]] for x, y, w in ((880, 20, 90), (910, 50, 30))
    ]
    plain["resolved"]["radio"]["obstacles"] = [
        {"polygon": polygon, "holes": [hole], "wall": 4.0, "inside": 0.0}
    ]
    recording = Recording(Facts(msgspec.convert(plain, type(facts.run)), facts.tables))
    file = tmp_path / "walls.html"
    file.write_text(make_viewer([recording]))
    page = visit(file.as_uri())
    taken = page.evaluate("[...replay.run.x].map((x, i) => [x, replay.run.y[i]])")
    free = [
        (x, y)
        for x, y in ((890, 30), (960, 100), (890, 100), (960, 30))
        if all(abs(x - a) + abs(y - b) > 40 for a, b in taken)
    ]
    assert free and page.evaluate(GREY, free[0]) == [0xDD, 0xE3, 0xE8]
    assert page.evaluate(GREY, (925, 65)) == page.evaluate(GREY, (860, 10)) == [255, 255, 255]
    assert "building" in page.inner_text("#legend")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", ["both", "four"])
def test_a_phone_shows_everything_without_sideways_scrolling(visit, pages, scheme, shown):
    page = visit(pages[shown], viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for pane in page.locator(".pane canvas").all():
        box = pane.bounding_box()
        assert box["height"] > 190 and box["width"] > 300
    assert page.evaluate("document.documentElement.dataset.theme") == scheme


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_and_controls_have_names(visit, pages, scheme):
    page = visit(f"{pages['cbr']}#event=0/100&node=3", color_scheme=scheme)
    for tab in ("overview", "event", "node", "log"):
        page.click(f"#tab-{tab}")
        page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
        assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []


def test_reduced_motion_draws_frames_without_growth(visit, pages):
    assert visit(pages["cbr"], reduced_motion="reduce").evaluate("replay.state.still") is True


def test_hostile_names_and_contents_are_shown_as_text_and_do_nothing(visit, facts, tmp_path):
    import pyarrow as pa

    evil = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"
    plain = msgspec.to_builtins(facts.run)
    plain["scenario"] = plain["protocol"] = evil
    plain["resolved"]["nodes"] = {evil: plain["resolved"]["nodes"]["shop"] | {"count": facts.run.nodes}}
    tables = dict(facts.tables)
    contents = pa.array([json.dumps({evil: {evil: evil}})] * len(tables["publications"]))
    table = tables["publications"]
    tables["publications"] = table.set_column(
        table.schema.get_field_index("event"), table.schema.field("event"), contents
    )
    drops = tables["drops"]
    cause = pa.array([evil] * len(drops)).dictionary_encode().cast(drops.schema.field("cause").type)
    tables["drops"] = drops.set_column(
        drops.schema.get_field_index("cause"), drops.schema.field("cause"), cause
    )
    file = tmp_path / "evil.html"
    file.write_text(make_viewer([Recording(Facts(msgspec.convert(plain, type(facts.run)), tables))]))
    page = visit(f"{file.as_uri()}#event=0/100&node=3")
    for tab in ("overview", "event", "node", "log"):
        page.click(f"#tab-{tab}")
        page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
        page.wait_for_timeout(50)
        assert page.locator("img").count() == 0 and page.title() != "owned"
    page.click("#keys-open")
    assert evil in page.inner_text("#keys") and page.locator("img").count() == 0


def test_a_link_with_nonsense_opens_the_replay_all_the_same(visit, pages):
    page = visit(f"{pages['cbr']}#event=<b>&node=1e9&t=NaN&speed=-5&colour=x&run=77&%%%")
    assert page.evaluate("[replay.state.node, replay.state.event, replay.state.active]") == [-1, -1, 0]
    page = visit(f"{pages['cbr']}#event=9/999")
    page.wait_for_selector("#panel :text('No event of this name')")
