"""From the demo's command to the cause of one lost event, in at most five clicks."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.lake.reading import read_facts
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.replay_index import read_replays
from roamcast.report.result import CampaignResult
from roamcast.why.presentation.explanation import explain_event
from roamcast.why.presentation.names import read_publication

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MOST_CLICKS = 5


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The last lines of `make demo`, with fewer seeds and protocols and a shorter run."""
    recipe = re.search(
        r"^demo:.*\n\t\$\(VENV\)/bin/roamcast (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    words = shlex.split(recipe[1])
    assert words[0] == "compare" and "--replay" in words
    for option, value in (("--seeds", "2"), ("--protocols", "cbr,ft-cbr"), ("--out", "out/demo")):
        words[words.index(option) + 1] = value
    words += ["--set", "duration='230 s'", "--set", "warmup='150 s'"]
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    env = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=280, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    report, replay, *_ = [
        line for line in done.stdout.splitlines() if line.startswith(("report: ", "replay: "))
    ]
    return Path(folder / report.removeprefix("report: ")), Path(folder / replay.removeprefix("replay: "))


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_a_newcomer_follows_one_lost_event_to_its_cause_in_five_clicks(demo):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    report, replay = demo
    assert report.is_file() and replay.is_file()
    clicks = 0
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(report.as_uri())
        for selector in ("table.sides a:text-is('replay')", "#panel .cause", "#panel .case"):
            page.locator(selector).first.click()
            clicks += 1
        page.wait_for_selector("#panel .verdict")
        sentences = page.locator("#panel .story li").all_inner_texts()
        event, node = page.evaluate("[replay.run.eventName(replay.state.event), replay.state.node]")
        protocol = page.evaluate("replay.run.name")
        browser.close()
    assert clicks <= MOST_CLICKS
    run = next(
        each
        for each in read_replays(CampaignResult(CampaignFolder(report.parent)))
        if each.protocol == protocol
    )
    story = explain_event(read_facts(f"{report.parent}/run={run.run}"), read_publication(event), node)
    assert story.outcome == "lost" and sentences == story.story[-1 - len(sentences) : -1] and sentences
