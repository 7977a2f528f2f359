"""The table of the papers' sentences names every claim of a paper and every statement that is not judged."""

import re
from pathlib import Path

import pytest

from roamcast.campaign.plan import read_campaign

ROOT = Path(__file__).parents[2]
PARTS = re.split(r"\n## (\w+)\n", (ROOT / "docs/reproductions/sentences.md").read_text())
TABLES = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))


@pytest.mark.parametrize("paper", ["petrovic", "schnitzer", "yoneki", "zhang"])
def test_each_sentence_has_claims_of_its_section_and_no_claim_of_the_paper_is_left_out(paper):
    campaign = read_campaign(ROOT / "campaigns" / f"{paper}.toml")
    judges = campaign.claims | campaign.not_judged
    named = set()
    for row in re.findall(r"^\| (?!section |---)(.+) \|$", TABLES[paper], re.MULTILINE):
        section, _, cell = row.split(" | ")
        keys = re.findall(r"`([\w-]+)`", cell)
        assert keys, row
        for key in keys:
            assert section in re.split(r"[,;] ", judges[key].section), (section, key)
        named |= set(keys)
    ours = {name for name, claim in campaign.claims.items() if claim.source == "ours"}
    assert named == judges.keys() - ours
