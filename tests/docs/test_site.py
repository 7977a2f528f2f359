"""The site of the documentation: every page is found in its navigation, and the command line is described."""

import re
from pathlib import Path

from roamcast.cli.app import COMMANDS
from roamcast.cli.reference import page

ROOT = Path(__file__).parents[2]
MADE = {"index.md", "reference/cli.md", "reference/api.md", "reference/changelog.md"}
"Pages that docs/site/hooks.py makes."


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page():
    docs = ROOT / "docs"
    navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    listed = set(re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE))
    pages = {str(file.relative_to(docs)) for file in docs.rglob("*.md")}
    pages = {name for name in pages if not re.match(r"decisions/0|renames\.md", name)}
    assert listed - MADE == pages


def test_the_reference_of_the_command_line_has_every_command_and_its_options():
    text = page()
    assert [f"## roamcast {name}\n" in text for name in COMMANDS] == [True] * len(COMMANDS)
    assert "### roamcast campaign verify\n" in text
    run = text.split("## roamcast run\n")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(--\S+)", run, re.MULTILINE)) >= {"--protocol", "--seed", "--set", "--facts"}
