"""The viewer by keyboard, with a screen reader and on a phone."""

import pytest

from roamcast.facts.tables import Facts
from tests.chromium import browser, needs_chromium, wait_until

__all__ = ["browser"]
pytestmark = needs_chromium
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

FOCUSED = "document.activeElement.textContent"


def test_the_run_of_the_panel_is_named_and_changed_by_keyboard(visit, pages):
    page = visit(f"{pages['both']}#event=0/100&node=3")
    page.wait_for_selector(
        "#panel h3:text-is('Node 3 under cbr'), #panel h3:text-is('Why node 3 did not receive it under cbr')"
    )
    page.get_by_role("button", name="clone", exact=True).press("Enter")
    page.locator("#panel h3", has_text="under clone").wait_for()
    assert page.evaluate("[replay.run.name, replay.run.eventName(replay.state.event)]") == ["clone", "0/100"]
    assert page.get_by_role("button", name="clone", exact=True).get_attribute("aria-pressed") == "true"
    assert visit(pages["cbr"]).locator("#runs-shown").is_hidden()


def test_all_maps_are_shown_from_a_link_to_one(visit, pages):
    page = visit(f"{pages['both']}#run=1&only")
    assert [each.is_visible() for each in page.locator(".pane").all()] == [False, True]
    page.get_by_role("button", name="Show all maps").click()
    page.get_by_role("button", name="Show one map").wait_for()
    assert all(each.is_visible() for each in page.locator(".pane").all())


RED = """() => {
  for (const key of Object.keys(replay.state.layers)) replay.state.layers[key] = false;
  replay.state.categories.clear();
  replay.draw();
  const canvas = document.querySelector(".pane canvas"), [node] = replay.chosen[0].lost.keys();
  const spot = [replay.view.x(replay.run.x[node]), replay.view.y(replay.run.y[node]), 1, 1].map(Math.floor);
  const [red, green] = canvas.getContext("2d").getImageData(...spot).data;
  return red > green + 40;
}"""
"Whether the first node that lost the chosen event has a red cross."


def test_a_subscriber_is_marked_as_lost_when_the_last_copy_has_ended(visit, pages):
    page = visit(pages["cbr"])
    page.locator("#panel .cause").first.click()
    page.locator("#panel .case").first.click()
    page.wait_for_selector("#panel .verdict")
    assert page.evaluate(RED)
    page.get_by_role("button", name="Go to publication").click()
    assert not page.evaluate(RED)


def test_focus_stays_on_a_cause_that_is_opened_by_key(visit, pages):
    page = visit(pages["cbr"])
    cause = page.locator("#panel .cause").first
    words = cause.evaluate("each => each.textContent")
    cause.press("Enter")
    page.wait_for_selector("#panel .case")
    assert page.evaluate(FOCUSED) == words
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED).startswith("event ")


def test_a_node_is_found_by_its_number(visit, pages):
    page = visit(pages["cbr"])
    for text, heading in (("node 12", "Node 12"), ("node 51", "Search: node 51")):
        page.fill("#query", text)
        page.press("#query", "Enter")
        page.locator("#panel h3", has_text=heading).wait_for()
        assert page.evaluate("replay.state.node") == 12


def test_the_clock_is_not_read_out_at_every_frame_and_the_speed_has_its_unit(visit, pages):
    page = visit(pages["cbr"])
    assert page.locator("#clock").get_attribute("aria-live") == "off"
    page.keyboard.press("]")
    assert page.locator("#speed").get_attribute("aria-valuetext") == "0.4\N{MULTIPLICATION SIGN}"


def test_help_opens_at_its_first_line(visit, pages):
    page = visit(pages["cbr"], **PHONE)
    page.click("#keys-open")
    assert page.evaluate("document.querySelector('#keys').scrollTop") == 0
    assert page.get_by_role("heading", name="Keys").is_visible()


ON_TOP = """selector => {
  const each = document.querySelector(selector), box = each.getBoundingClientRect();
  return each.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""
"Whether the middle of an element is in the window and not covered."


def test_on_a_phone_a_case_brings_its_map_and_cause_into_view(visit, pages):
    page = visit(pages["cbr"], **PHONE)
    page.locator("#panel .cause").last.tap()
    page.locator("#panel .case").last.tap()
    page.wait_for_selector("#panel .verdict")
    for each in (".pane canvas", "#panel .verdict"):
        wait_until(page, f"({ON_TOP})('{each}')")


@pytest.mark.parametrize("shown", ["cbr", "both"])
def test_on_a_phone_no_button_covers_a_map(visit, pages, shown):
    page = visit(pages[shown], **PHONE)
    tools, pane = (page.locator(each).first.bounding_box() for each in (".tools", ".pane canvas"))
    assert tools["y"] + tools["height"] <= pane["y"]


LINES = """() => replay.charts.map(({ canvas }) => {
  const { width, height } = canvas, ratio = height / canvas.getBoundingClientRect().height;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const rows = { above: false, below: false };
  for (let i = 0; i < pixels.length; i += 4) {
    const row = Math.floor(i / 4 / width);
    if (pixels[i] === 0x1f && pixels[i + 2] === 0xb5) rows[row < 12 * ratio ? "above" : "below"] = true;
  }
  return rows;
})"""
"Whether each chart has pixels of its line's colour beside the label of its highest value, and below it."


def test_the_labels_of_charts_are_above_their_lines(visit, pages):
    found = visit(pages["cbr"]).evaluate(LINES)
    assert found == [{"above": False, "below": True}] * 4


def test_the_legend_lists_the_kinds_of_messages_that_were_sent(visit, pages, shopping):
    page = visit(pages["cbr"])
    sent = set(Facts.read(shopping["cbr"])["transmissions"]["category"].to_pylist())
    listed = {
        each.removesuffix(" frame")
        for each in page.locator("#legend li").all_inner_texts()
        if each.endswith(" frame")
    }
    assert listed == sent and "control" not in sent
