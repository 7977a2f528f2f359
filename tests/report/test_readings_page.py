"""Claims under all readings, from verdicts made by hand: what holds where, and what decides it."""

from itertools import product

import pyarrow as pa
import pytest
from finished_campaign import COUNT, SHOPPING
from test_report import Well

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.checks import make_tables
from roamcast.campaign.plan import apply_options, make_plan
from roamcast.campaign.readings import choose
from roamcast.campaign.tables import TABLES
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.json_result import to_record
from roamcast.report.markdown import write_markdown
from roamcast.report.page.page import make_page
from roamcast.report.readings import judge_readings
from roamcast.report.result import CampaignResult


def reading(*alternatives):
    return {
        "open": f"which of {', '.join(alternatives)}?",
        "section": "5.1",
        "default": alternatives[0],
        "because": "The text says so.",
        "alternatives": {name: {} for name in alternatives},
    }


READINGS = {
    "pace": reading("burst", "even"),
    "start": reading("rest", "swing"),
    "speed": reading("slow", "fast", "mixed"),
}

HELD = {
    "always": lambda row: True,
    "never": lambda row: False,
    "by pace": lambda row: row["pace"] == "even",
    "by speed": lambda row: row["speed"] != "fast",
    "by both": lambda row: row["pace"] == "even" and row["start"] == "swing",
    "by all": lambda row: row == {"pace": "even", "start": "swing", "speed": "fast"},
    "by chance": lambda row: (
        (row["pace"] == "even") != (row == {"pace": "burst", "start": "swing", "speed": "mixed"})
    ),
}


def make_result(folder, most=16):
    claim = {"kind": "band", "sweep": "people", "metric": "delivery_rate", "protocol": "flooding", "low": 0.5}
    campaign = Campaign.model_validate(
        {
            "title": "Pipes | and <tags>",
            "scenario": SHOPPING,
            "seeds": 2,
            "protocols": {"flooding": {}},
            "sweeps": {"people": {"protocols": ["flooding"], "grid": {COUNT: [10, 50]}}},
            "claims": {name: claim | {"says": f"It holds {name}."} for name in HELD},
            "readings": READINGS,
            "design": {"most": most},
        }
    )
    shaped = apply_options(campaign, readings=True)
    plan, rows = make_plan(shaped), choose(campaign.readings, campaign.design)
    store = CampaignFolder(folder)
    store.create()
    store.write_campaign(shaped, readings=True, command="roamcast reproduce it --readings")
    store.write_plan(plan)
    made = make_tables(shaped, plan.places)
    verdicts = made["checks"].to_pylist()
    for check in verdicts:
        name, _, number = check["claim"].partition(" @ ")
        row = rows[int(number or 0)]
        held = HELD[name](row)
        unlucky = name == "by chance" and held != HELD["by pace"](row)
        check |= {"count": 2, "ours": 0.7 if held else 0.3, "half": 0.3 if unlucky else 0.01, "inside": held}
        check |= {"verdict": "undecided" if unlucky else "held" if held else "not held"}
    runs = [{"run": run.id, "status": "done", "error": ""} for run in plan.runs]
    tables = {"runs": runs, "metrics": [], "summary": [], "differences": []}
    tables |= {name: made[name].to_pylist() for name in ("checks", "terms")} | {"verdicts": verdicts}
    for name, table in tables.items():
        store.write_table(name, pa.Table.from_pylist(table, TABLES[name]))
    return CampaignResult(store)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return make_result(tmp_path_factory.mktemp("readings"))


def test_each_claim_is_answered_and_what_decides_it_is_named(result):
    found = {each.name: (each.answer, each.decided_by) for each in judge_readings(result)}
    assert found == {
        "always": ("held under all 12 readings", "nothing: all readings agree"),
        "never": ("held under none of 12 readings", "nothing: all readings agree"),
        "by pace": ("held under 6 of 12 readings: where pace is even", "pace"),
        "by speed": ("held under 8 of 12 readings: where speed is slow or speed is mixed", "speed"),
        "by both": ("held under 3 of 12 readings: where pace is even with start is swing", "pace and start"),
        "by all": (
            "held under 1 of 12 readings",
            "no one choice, nor a pair that can be told from other pairs",
        ),
        "by chance": (
            "held under 6 of 12 readings: where pace is even; undecided under 1",
            "pace, where decided",
        ),
    }


def test_a_single_choice_that_decides_is_found_in_a_covering_design_too(tmp_path):
    found = {each.name: each.decided_by for each in judge_readings(make_result(tmp_path, most=1))}
    assert {name: found[name] for name in ("always", "never", "by pace", "by speed")} == {
        "always": "nothing: all readings agree",
        "never": "nothing: all readings agree",
        "by pace": "pace",
        "by speed": "speed",
    }


def test_marks_and_numbers_stand_by_combination(result):
    by_name = {each.name: each for each in judge_readings(result)}
    rows = [
        dict(zip(READINGS, chosen, strict=True))
        for chosen in product(*(r["alternatives"] for r in READINGS.values()))
    ]
    assert sorted(map(str, by_name["always"].combinations)) == sorted(map(str, rows))
    pace = by_name["by pace"]
    for row, mark, number in zip(pace.combinations, pace.marks, pace.numbers, strict=True):
        assert (mark, number) == (("+", "0.7") if row["pace"] == "even" else ("-", "0.3"))
    assert by_name["by chance"].marks.count("(+)") == 1


def test_the_page_says_what_is_open_what_was_judged_and_what_decides(result, tmp_path):
    write_markdown(result, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# What a reading decides: Pipes | and <tags>\n")
    assert "| pace | 5.1 | which of burst, even? | **burst**; **even** | burst. The text says so. |" in page
    assert "| 0 | the defaults |" in page
    assert "Of 7 claims 1 hold under all readings, 1 under none, 5 under some." in page
    assert "| It holds by pace. |  |  | held under 6 of 12 readings: where pace is even | pace | - | " in page
    widths = {line.count(" | ") for line in page.splitlines() if line.startswith("| It holds")}
    assert widths == {4 + 12}


def test_the_report_and_the_record_tell_the_same(result, tmp_path):
    page = make_page(result)
    reader = Well()
    reader.feed(page)
    assert not reader.open and not reader.asked
    assert "held under 6 of 12 readings: where pace is even" in page
    values = {each["name"]: each for each in to_record(result, tmp_path)["readings"]}
    assert values["by pace"]["deciding"] == ("pace",)
    assert [under["verdict"] for under in values["never"]["under"]] == ["not held"] * 12
