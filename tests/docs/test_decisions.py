"""The records of decisions: complete, listed, and found by every reference."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
NUMBERS = [record.name[:4] for record in RECORDS]
READ = ["src", "tests", "docs", "kernel", "bench", "validation", "mutation", "fuzz"]


def test_each_record_has_a_number_of_its_own_and_a_title():
    assert len(set(NUMBERS)) == len(NUMBERS)
    for record in RECORDS:
        title, _, status = record.read_text().split("\n")[:3]
        assert re.fullmatch(rf"# {record.name[:4]}:? \S.*", title), record.name
        assert status.startswith(("**Status.** ", "**Context.** ")), record.name


def test_the_index_lists_records_once_and_all_but_the_newest():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    listed = re.findall(r"\]\((0\d{3}-[a-z0-9-]+\.md)\)", index)
    assert len(set(listed)) == len(listed) and set(listed) <= {record.name for record in RECORDS}
    assert {record.name for record in RECORDS if record.name < "0300"} <= set(listed)


def test_every_reference_to_a_decision_finds_its_record():
    files = [
        path
        for folder in READ
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".h", ".cpp", ".toml"} and path not in RECORDS
    ]
    referred = {
        (str(path.relative_to(ROOT)), number)
        for path in [*files, ROOT / "CONTRIBUTING.md", ROOT / "README.md", ROOT / "CHANGELOG.md"]
        for phrase in re.findall(r"[Dd]ecisions? ((?:0\d{3}(?:, | and | to )?)+)", path.read_text())
        for number in re.findall(r"0\d{3}", phrase)
    }
    assert len(referred) > 20
    assert [name for name in sorted(referred) if name[1] not in NUMBERS] == []
