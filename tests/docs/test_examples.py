"""Every example of README and docs runs as written, in reading order."""

import re
import shlex
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks, follow, runnable

RUNNABLE = [page for page in PAGES if runnable(page)]


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
def test_a_page_runs_from_top_to_bottom(page, tmp_path):
    assert follow(page, tmp_path)


def test_pages_name_only_verbs_options_and_targets_that_there_are():
    from roamcast.cli.app import COMMANDS, build

    makefile = (ROOT / "Makefile").read_text()
    seen = set()
    for page in RUNNABLE:
        for block in blocks(page):
            for command in block.commands() if block.language in ("sh", "console") else []:
                words = shlex.split(command, comments=True)
                if words[0] == "make":
                    assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), command
                elif words[0] == "roamcast":
                    assert words[1] in COMMANDS, command
                    seen.add(words[1])
    assert seen >= {
        "run",
        "map",
        "compare",
        "why",
        "diff",
        "check",
        "campaign",
        "reproduce",
        "swarm",
        "protocols",
    }
    assert build("run")


def test_the_world_of_the_tour_runs(tmp_path):
    import roamcast

    (block,) = [block for block in blocks(ROOT / "docs" / "tour.md") if block.file == "alarm.toml"]
    (tmp_path / "alarm.toml").write_text(block.text)
    assert roamcast.run(tmp_path / "alarm.toml").metrics.expected > 50


def test_the_campaign_page_and_the_scenario_page_hold_files_that_are_right(tmp_path, monkeypatch):
    from roamcast.cli.app import invoke

    monkeypatch.chdir(tmp_path)
    for page in ("campaigns.md", "scenarios.md"):
        for block in blocks(ROOT / "docs" / page):
            if block.file:
                with Path(block.file.removeprefix("+")).open("a") as file:
                    file.write(block.text)
    assert invoke(["check", "speed.toml", "alarm.toml"]) == 0
