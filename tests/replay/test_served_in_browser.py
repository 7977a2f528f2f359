"""A served run in Chromium: pieces are loaded when they are needed, and losses explained when asked for."""

import threading
from contextlib import contextmanager

import pytest

from roamcast.facts.folder import FactsFolder
from roamcast.facts.tables import Facts
from roamcast.replay import recording as recording_module
from roamcast.replay.parts import air
from roamcast.replay.recording import Recording
from roamcast.replay.server import ReplayServer
from roamcast.why.explainer import Explainer
from roamcast.why.trail.trail import Trail
from tests.chromium import browser, needs_chromium, wait_until

__all__ = ["browser"]
pytestmark = needs_chromium


@contextmanager
def served(browser, *recordings, fragment=""):
    """A page of a server that runs as long as the context; it must report no error."""
    with ReplayServer(recordings) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        page = browser.new_page()
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(server.address + fragment)
        page.wait_for_selector("html[data-ready=yes]")
        yield page
        page.close()
        server.shutdown()
        thread.join()
        assert problems == []


@pytest.fixture
def large(shopping, monkeypatch):
    """A run that counts as too large to explain all its losses."""
    monkeypatch.setattr(recording_module, "MOST_SERVED", 0)
    monkeypatch.setattr(air, "PIECE", 500)
    folder = shopping["cbr"]
    return Recording(Facts.open(folder), source=FactsFolder(folder))


def test_pieces_are_loaded_when_they_are_needed(browser, facts, monkeypatch):
    monkeypatch.setattr(air, "PIECE", 500)
    with served(browser, Recording(facts), fragment="#t=1") as page:
        wait_until(page, "Boolean(replay.airs[0].pieces[0].frames)")
        assert not page.evaluate("Boolean(replay.airs[0].pieces.at(-1).frames)")
        page.evaluate("replay.goTo(89)")
        wait_until(page, "Boolean(replay.airs[0].pieces.at(-1).frames)")
        page.evaluate("replay.chooseEvent(100)")
        wait_until(page, "replay.chosen[0] !== null")
        sent = page.evaluate("replay.airs[0].passage(100).then((passage) => passage.copies.length)")
        assert sent == len(Recording(facts).find_passage(100)["copies"])


def test_pieces_far_from_the_clock_are_forgotten(browser, facts, monkeypatch):
    monkeypatch.setattr(air, "PIECE", 20)
    with served(browser, Recording(facts)) as page:
        pieces = page.evaluate("replay.airs[0].pieces.length")
        assert pieces > 40
        page.evaluate(
            "(async () => { for (const n of replay.airs[0].pieces.keys()) await replay.airs[0].load(n); })()"
        )
        there = page.evaluate("replay.airs[0].pieces.map((each) => Boolean(each.frames))")
        assert there == [False] * (pieces - 24) + [True] * 24
        page.evaluate("replay.goTo(1)")
        wait_until(page, "replay.airs[0].ready(0.9, 1)")


def test_a_lost_event_of_a_large_run_is_explained_when_it_is_opened(browser, large, facts):
    trail = Trail(facts)
    lost = trail.misses()
    with served(browser, large) as page:
        page.wait_for_selector("text=Events with most losses")
        share = f"{100 * (1 - len(lost) / expected_after_warmup(trail)):.1f} %"
        assert page.locator("#panel .big").inner_text() == share
        page.locator("#panel .slowest button", has_text="lost: event").first.click()
        page.locator("#panel .lost button").first.click()
        page.wait_for_selector("#panel .verdict")
        event, node = page.evaluate("[replay.run.eventName(replay.state.event), replay.state.node]")
        publication = int(event.split("/")[0]) << 32 | int(event.split("/")[1])
        assert (publication, node) in lost
        verdict = Explainer(trail).explain(publication, node)
        assert page.locator("#panel .story li").all_inner_texts() == verdict.story
        assert page.locator("#panel .verdict").inner_text().startswith(verdict.cause.value)


def expected_after_warmup(trail):
    return sum(trail.published[publication] >= trail.run.warmup for publication, _ in trail.expected)


def test_search_by_content_and_a_link_work_in_a_served_run(browser, large, facts):
    published = facts["publications"].to_pandas().sort_values(["time", "publication"])
    with served(browser, large) as page:
        page.fill("#query", "/coupon[zone = 6]")
        page.press("#query", "Enter")
        page.wait_for_selector("#panel .found")
        matching = published[published["event"] == '{"coupon":{"zone":6}}']
        found = page.evaluate("replay.state.found.events.map((each) => replay.run.eventName(each))")
        assert found == [f"{each >> 32}/{each & 0xFFFFFFFF}" for each in matching["publication"]] != []
        page.locator("#panel .hit").first.click()
        page.wait_for_selector(f"#panel h3:text-is('Event {found[0]}')")
    lost = next(pair for pair in Trail(facts).misses())
    name = f"{lost[0] >> 32}/{lost[0] & 0xFFFFFFFF}"
    with served(browser, large, fragment=f"#event={name}&node={lost[1]}") as page:
        page.wait_for_selector("#panel .verdict")
        assert f"Event {name}" in page.locator("#panel").inner_text()
