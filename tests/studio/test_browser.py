"""The first hour in Chromium: choose, edit, ask, answer, replay, and one lost event to its cause."""

import json
import os
import re
import subprocess
import sys

import pytest

from roamcast.lake.reading import read_facts
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.names import read_publication
from tests.chromium import CONTRAST, NAMELESS, browser, needs_chromium, wait_until
from tests.studio.client import SHOPPING

__all__ = ["browser"]

HOSTILE = "<img src=x onerror=window.hurt=1><script>window.hurt=1</script>"
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """The folder and the address of a studio in a process of its own, as a user starts it."""
    folder = tmp_path_factory.mktemp("first hour")
    text = SHOPPING.read_text().replace('name = "shopping"', f"name = '{HOSTILE}'")
    (folder / "hostile.toml").write_text(text.replace("walkers", "'<b>walkers</b>'"))
    (folder / f"{HOSTILE[:9].replace('<', '(')}.toml").write_text("area = 1\nnodes = 1\n")
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", "studio", str(folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}
    )
    yield folder, process.stdout.readline().strip()
    process.terminate()
    process.wait(30)


@pytest.fixture
def visit(browser, studio):
    """Open the studio in a page that must report no error."""
    opened = []

    def visit(fragment="", **settings):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | settings)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)
        page.goto(studio[1])
        page.wait_for_selector("h1")
        assert "token" not in page.url
        if fragment:
            page.goto(studio[1].partition("#")[0] + fragment)
            page.wait_for_selector("h1")
        opened.append(page)
        return page

    yield visit
    for page in opened:
        assert page.problems == []
        page.context.close()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_the_first_hour_from_a_scenario_to_the_cause_of_one_lost_event(visit, studio):
    folder, _ = studio
    page = visit()
    page.get_by_role("link", name="shopping", exact=True).click()
    page.wait_for_selector(".check-status.good")
    for key, value in (("warmup", "150 s"), ("duration", "2 furlongs")):
        page.locator(f'[data-path="{key}"]').fill(value)
        page.locator(f'[data-path="{key}"]').press("Tab")
    page.wait_for_selector(".check-status.bad")
    message = page.locator(".check-status").inner_text()
    assert re.search(r"shopping.toml:5: duration: '2 furlongs' has unit 'furlongs'", message)
    page.locator('[data-path="duration"]').fill("230 s")
    page.locator('[data-path="duration"]').press("Tab")
    page.wait_for_selector(".check-status.good")
    page.get_by_role("link", name="Compare protocols").click()  # saves the copy first
    page.wait_for_selector(".protocol")
    assert 'duration = "230 s"' in (folder / "my-shopping.toml").read_text()
    checked = [box.get_attribute("value") for box in page.locator(".protocol input:checked").all()]
    for name in set(checked) - {"cbr", "ft-cbr"}:
        page.locator(f'.protocol input[value="{name}"]').uncheck()
    page.get_by_label("Seeds").fill("2")
    line = "roamcast compare my-shopping.toml --protocols cbr,ft-cbr --seeds 2"
    page.locator(".command code", has_text=line).wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".cell.done", timeout=180_000)
    page.wait_for_selector(".headline", timeout=180_000)
    assert "cbr" in page.locator(".hero").inner_text()
    assert page.locator(".command code").inner_text() == f"{line} --out out/compare-shopping"

    page.get_by_role("button", name="Why were events lost?").click()
    page.wait_for_selector(".cause")
    page.locator(".explain").first.click()
    page.wait_for_selector(".story li")
    shown = page.locator(".story").first.locator("li").all_inner_texts()
    run = re.search(r"run=(\w+)", page.locator(".panel .command code").inner_text())[1]
    event, node = re.search(
        r"Explain (\S+), node (\d+)", page.locator(".explain").first.inner_text()
    ).groups()
    facts = read_facts(f"{folder}/out/compare-shopping/run={run}")
    assert shown == explain_event(facts, read_publication(event), int(node)).story

    page.locator(".watch").first.click()
    frame = page.frame_locator("iframe")
    frame.locator("#panel .verdict").wait_for()
    assert f"Event {event}" in frame.locator("#panel").inner_text()
    sentences = frame.locator("#panel .story li").all_inner_texts()
    assert sentences and sentences == shown[-1 - len(sentences) : -1]

    page.get_by_role("tab", name="Report").click()
    page.frame_locator("iframe").locator("h1").wait_for()
    page.get_by_role("tab", name="SQL").click()
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector(".plot", timeout=180_000)
    assert page.locator("table.plain tbody tr").count() == 4
    page.get_by_role("link", name="Results", exact=True).first.click()
    page.wait_for_selector(".results li")
    assert line in page.locator(".results").inner_text()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.timeout(600)
def test_a_stopped_question_is_resumed(visit, studio):
    page = visit("#/ask?world=shipped%2Fshopping")
    page.wait_for_selector(".protocol")
    page.get_by_label("Seeds").fill("6")
    page.get_by_label("Changed keys").fill('duration="400 s"')
    page.locator(".command code", has_text="--seeds 6 --set").wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".cell.done", timeout=180_000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped; finished runs are kept", exact=True).wait_for()
    kept = page.locator(".cell.done").count()
    assert 0 < kept < 24
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(".headline", timeout=300_000)
    assert page.locator("table.sides tbody tr").count() > 3


def test_hostile_names_are_shown_and_not_executed(visit, studio):
    page = visit()
    page.get_by_text(HOSTILE).first.wait_for()
    page.goto(studio[1].partition("#")[0] + "#/world?id=local%2Fhostile.toml")
    page.wait_for_selector(".check-status.good")
    page.locator("legend", has_text="<b>walkers</b>").first.wait_for()
    assert (
        page.evaluate("window.hurt") is None and page.locator("img[src=x], b:text-is('walkers')").count() == 0
    )


def test_nodes_are_placed_by_mouse_and_by_keyboard(visit):
    page = visit("#/world?id=shipped%2Fshopping")
    page.wait_for_selector(".check-status.good")
    page.get_by_role("button", name="Place nodes by hand").click()
    box = page.locator(".holder svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_role("button", name=re.compile("^shop 2 at")).wait_for()
    text = page.get_by_label("Scenario as TOML")
    x, y = map(float, re.search(r'at = .*, \["([\d.]+) m", "([\d.]+) m"\]\]', text.input_value()).groups())
    assert abs(x - 500) < 10 and abs(y - 250) < 10
    second = page.get_by_role("button", name=re.compile("^shop 2 at"))
    second.focus()
    second.press("ArrowRight")
    page.get_by_role("button", name=f"shop 2 at {x + 10:g}, {y:g} m").wait_for()
    page.get_by_role("button", name=re.compile("^shop 2 at")).press("Delete")
    page.get_by_role("button", name=re.compile("^shop 2 at")).wait_for(state="detached")
    assert 'at = [["0 m", "0 m"]]' in text.input_value()
    assert "# the paper ignores the first 200 s" in text.input_value()


def test_a_slider_changes_the_text_and_the_prediction(visit):
    page = visit("#/world?id=shipped%2Fshopping")
    page.wait_for_selector(".predicted")
    assert (
        page.get_by_text("Low confidence").count() == 1 and page.locator(".predicted tbody tr").count() == 5
    )
    before = page.locator(".predicted tbody").inner_text()
    slider = page.get_by_label("radio.range", exact=True)
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    said = json.dumps(before)
    wait_until(page, f"document.querySelector('.predicted tbody').innerText !== {said}")
    text = page.get_by_label("Scenario as TOML").input_value()
    assert float(re.search(r'range = "([\d.]+) m"', text)[1]) == pytest.approx(250 * 4**0.4, rel=0.03)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(
        "(each => each.scrollWidth <= each.clientWidth)(document.querySelector('.predicted').parentElement)"
    )
    page.get_by_role("button", name=re.compile(r"^Show \d+ more$")).click()
    assert page.locator(".predicted tbody tr").count() > 5


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (390, "light"), (390, "dark"), (820, "dark")])
def test_every_page_fits_the_window_and_every_control_has_a_name(visit, width, scheme):
    for fragment in ("#/worlds", "#/world?id=shipped%2Fshopping", "#/ask", "#/results", "#/live"):
        page = visit(
            fragment, viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
        )
        page.wait_for_selector("h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, fragment
        assert page.evaluate(NAMELESS) == [], fragment
        assert page.evaluate(CONTRAST) == [], fragment


def test_a_page_that_is_still_read_says_so(visit):
    page = visit()
    lists: dict[str, list[str]] = {"by_seed": [], "tables": [], "metrics": [], "protocols": []}
    values = {"status": {"title": "held"}, "report": True, "files": "/held"} | lists
    held = []
    page.route("**/api/result?*", lambda asked: asked.fulfill(json=values))
    page.route("**/held/report.html", lambda asked: held.append(asked))  # noqa: PLW0108 (a builtin fails)
    page.goto(page.url.partition("#")[0] + "#/result?id=held&tab=report")
    page.get_by_text("Reading: Report").wait_for()
    held[0].fulfill(body="<h1>Report</h1>", content_type="text/html")
    page.get_by_text("Reading: Report").wait_for(state="detached")


def test_dots_are_the_runs_of_their_point(visit):
    page = visit()
    rate = {"name": "rate", "title": "Rate", "unit": "", "scale": "share", "meaning": "", "better": "more"}
    points = [
        {"sweep": "all", "settings": {"duration": "9 s", "count": count}, "texts": {}}
        | {"protocols": {"cbr": {}}, "answer": {"sentences": ["so: it is"]}}
        for count in (10, 50)
    ]
    rows = [
        {"sweep": "all", "point": f'{{"count": {count}}}', "protocol": "cbr", "seed": seed, "rate": 0.5}
        for count, seed in ((10, 1), (50, 1), (50, 2))
    ]
    values = {"status": {"title": "points"}, "metrics": [rate], "protocols": ["cbr"], "by_seed": rows}
    values |= {"record": {"points": points}, "tables": [], "files": "/held"}
    page.route("**/api/result?*", lambda asked: asked.fulfill(json=values))
    page.goto(page.url.partition("#")[0] + "#/result?id=points")
    page.wait_for_selector(".strip")
    assert [each.locator(".dot").count() for each in page.locator(".strip").all()] == [1, 2]


def test_a_campaign_shows_its_verdicts_before_its_points(visit):
    page = visit()
    claims = [
        {
            "says": "CBR <b>is</b> cheap",
            "section": "5.4",
            "paper": "12",
            "bounds": "at most 13",
            "ours": "12.1",
        }
        | {"verdict": "held", "mark": "held"},
        {"says": "CBR is late", "section": "", "paper": "", "bounds": "at least 1", "ours": "0.2"}
        | {"verdict": "not held", "mark": "not-held"},
    ]
    values = {"status": {"title": "claims"}, "metrics": [], "protocols": ["cbr"], "by_seed": [], "tables": []}
    values |= {"record": {"points": []}, "verdicts": {"summary": "1 of 2 claims held", "claims": claims}}
    page.route("**/api/result?*", lambda asked: asked.fulfill(json=values | {"files": "/held"}))
    page.goto(page.url.partition("#")[0] + "#/result?id=claims")
    page.get_by_text("1 of 2 claims held").wait_for()
    rows = [row.inner_text().split("\t") for row in page.locator(".verdicts tbody tr").all()]
    assert rows == [
        ["CBR <b>is</b> cheap (section 5.4)", "12", "at most 13", "12.1", "held"],
        ["CBR is late", "\u2013", "at least 1", "0.2", "not held"],
    ]
    assert page.evaluate(CONTRAST) == []


def test_on_a_phone_the_protocols_stand_before_the_button_that_runs_them(visit):
    page = visit("#/ask", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".protocol")
    last, run = page.locator(".protocol").last, page.get_by_role("button", name="Run", exact=True)
    assert last.bounding_box()["y"] < run.bounding_box()["y"]


def test_a_page_without_the_token_shows_what_to_do(browser, studio):
    page = browser.new_context().new_page()
    page.goto(studio[1].partition("#")[0])
    page.get_by_text("open the address that roamcast studio printed").wait_for()
    page.context.close()
