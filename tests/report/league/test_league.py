"""The league ranks each world by what it asks for, and tells who dominates whom, who breaks and why."""

import io
import json
import re
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

from roamcast.api.league import make_league
from roamcast.campaign.plan import check_campaign, make_plan
from roamcast.campaign.tables import TABLES
from roamcast.errors import UserError
from roamcast.metrics.declarations import METRICS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.comparing.curves import summarise_values
from roamcast.report.league.conditions import Conditions
from roamcast.report.league.markdown import write_league
from roamcast.report.league.page import make_league_page
from roamcast.report.league.report import make_report
from roamcast.report.league.standings import LossCauses, choose_pairs, rank_overall, rank_worlds
from roamcast.report.league.tables import list_breaks, list_conditions
from roamcast.report.league.terminal import show_league
from roamcast.report.result import CampaignResult

WORLDS = ["convoy", "rescue", "city"]
PROTOCOLS = ["flooding", "cbr", "p-pubs"]
RATES = {
    ("convoy", "flooding"): 0.8,
    ("convoy", "cbr"): 0.3,
    ("convoy", "p-pubs"): 0.81,
    ("rescue", "flooding"): 0.4,
    ("rescue", "cbr"): 0.5,
    ("rescue", "p-pubs"): 0.45,
    ("city", "flooding"): 0.9,
    ("city", "cbr"): 0.7,
    ("city", "p-pubs"): 0.9,
}
AIRTIME = {"flooding": 4.0, "cbr": 8.0, "p-pubs": 2.0}
SEEDS = 6


def metrics_of(world, protocol, seed):
    rate = RATES[world, protocol] + 0.002 * (seed % 3)
    common = {"publications": 100.0, "neighbours": 7.0, "requests": 0.0}
    costs = {"airtime": 100 * AIRTIME[protocol], "energy": 10 * AIRTIME[protocol]}
    if world == "city":
        asked = {"expected": 0.0, "requests": 200.0, "satisfied_rate": rate, "response_delay": 1.0}
    else:
        asked = {"expected": 500.0, "reachable": 450.0, "delivery_rate": rate, "delay_mean": 0.1}
        asked |= {"airtime_per_delivery": AIRTIME[protocol], "energy_per_delivery": AIRTIME[protocol] / 10}
    return dict.fromkeys(METRICS) | common | costs | asked


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    campaign = make_league(WORLDS, PROTOCOLS, SEEDS).campaign
    plan = make_plan(campaign)
    store = CampaignFolder(tmp_path_factory.mktemp("league"))
    store.create()
    store.write_campaign(campaign, command="roamcast league")
    store.write_plan(plan)
    known = {
        (p.sweep, p.point, p.protocol, p.seed): metrics_of(p.sweep, p.protocol, p.seed) for p in plan.places
    }
    runs = {p.run: known[p.sweep, p.point, p.protocol, p.seed] for p in plan.places}
    used = {"wall": 60.0, "cpu": 60.0, "memory": 1 << 20, "rows": 10, "size": 100}
    rows = {
        "runs": [{"run": run, "status": "done", "error": ""} | used for run in runs],
        "metrics": [{"run": run} | values for run, values in runs.items()],
        "summary": [],
        "differences": [],
        "checks": [],
        "terms": [],
        "verdicts": [],
    }
    for sweep, point in sorted({(p.sweep, p.point) for p in plan.places}):
        for metric in METRICS:
            of = {
                p: [known[sweep, point, p, seed][metric] for seed in range(1, SEEDS + 1)] for p in PROTOCOLS
            }
            of = {p: values for p, values in of.items() if None not in values}
            key = {"sweep": sweep, "point": point, "metric": metric}
            for p, values in of.items():
                rows["summary"].append(key | {"protocol": p} | summarise_values(sorted(values), "any"))
            for p, other in combinations(of, 2):
                gaps = sorted(a - b for a, b in zip(of[p], of[other], strict=True))
                found = summarise_values(gaps, "any")
                rows["differences"].append(key | {"protocol": p, "other": other} | found | {"trials": 500.0})
    for name, table in rows.items():
        plain = [{field.name: row.get(field.name) for field in TABLES[name]} for row in table]
        store.write_table(name, pa.Table.from_pylist(plain, TABLES[name]))
    return CampaignResult(store)


@pytest.fixture(scope="module")
def report(result):
    causes = {("convoy", "cbr"): LossCauses(100, [("a queue was full", 90), ("a node knew no route", 10)])}
    return make_report(result, {("city", "gpsr-unicast"): "needs positions"}, causes)


def test_a_world_of_requests_is_ranked_by_satisfied_requests_and_the_others_by_delivery(report):
    metrics = {each.world: each.service for each in report.rankings}
    assert metrics == {"convoy": "delivery_rate", "rescue": "delivery_rate", "city": "satisfied_rate"}
    rescue = next(each for each in report.rankings if each.world == "rescue")
    assert [each.protocol for each in rescue.standings] == ["cbr", "p-pubs", "flooding"]
    assert rescue.leaders == ["cbr"] and rescue.find("cbr").mark == "best"
    city = next(each for each in report.rankings if each.world == "city")
    assert sorted(city.leaders) == ["flooding", "p-pubs"] and city.find("cbr").mark == ""


def test_costs_of_requests_count_per_answer(report):
    city = next(each for each in report.rankings if each.world == "city")
    rates = [0.9 + 0.002 * (seed % 3) for seed in range(1, SEEDS + 1)]
    expected = sum(400 / (200 * rate) for rate in rates) / SEEDS
    assert city.find("flooding").costs["airtime"]["mean"] == pytest.approx(expected)


def test_a_protocol_breaks_below_half_of_the_best_and_nowhere_else(report):
    broken = {(each.world, s.protocol) for each in report.rankings for s in each.standings if s.breaks}
    assert broken == {("convoy", "cbr")}


def test_the_front_has_those_that_none_dominates(report):
    by_name = {each.protocol: each for each in report.overall}
    assert report.front == ["p-pubs"]
    assert by_name["cbr"].dominated_by == ["flooding", "p-pubs"]
    assert by_name["flooding"].dominated_by == ["p-pubs"]
    assert by_name["p-pubs"].costs["airtime"]["mean"] == pytest.approx(0.5)
    assert by_name["cbr"].broken == ["convoy"] and by_name["cbr"].best == 1


def test_a_protocol_of_fewer_worlds_dominates_nobody(result):
    rankings = rank_worlds(result)
    partial = [
        type(each)(
            each.world,
            each.place,
            each.service,
            [s for s in each.standings if (each.world, s.protocol) != ("city", "p-pubs")],
        )
        for each in rankings
    ]
    overall = {each.protocol: each for each in rank_overall(result, partial)}
    assert overall["p-pubs"].worlds == 2 and overall["flooding"].dominated_by == []


def test_causes_are_asked_for_where_protocols_break_and_for_the_worst_world(report):
    pairs = choose_pairs(report.rankings, PROTOCOLS)
    assert pairs == [("rescue", "flooding"), ("convoy", "cbr"), ("rescue", "p-pubs")]


def test_every_output_tells_the_same(report, tmp_path):
    console = Console(file=io.StringIO(), width=200)
    show_league(report, console)
    shown = console.file.getvalue()
    page = make_league_page(report)
    file = tmp_path / "league.md"
    write_league(report, file)
    text = file.read_text()
    for expected in (shown, page, text):
        assert "a queue was full (90 %)" in expected
        assert "p-pubs delivers the most over all worlds: 72.2" in " ".join(expected.split())
        assert "54 minutes of processor time" in " ".join(expected.split())
    assert "gpsr-unicast does not run in city: it needs positions." in page and "needs positions" in text
    assert page.count("<svg") >= 4 and "prefers-color-scheme:dark" in page and "download=" in page
    assert {path.name for path in (tmp_path / "league").iterdir()} == {
        *("league-matrix.svg", "league-delay.svg", "league-airtime.svg", "league-energy.svg")
    }
    record = json.loads(json.dumps(report.record()))
    assert record["front"] == ["p-pubs"] and record["worlds"][0]["conditions"]["nodes"] == 60


def test_worlds_and_breaks_are_listed_with_conditions(report):
    best = {row[0]: row[2] for row in list_conditions(report).rows}
    assert best["rescue"].startswith("cbr, 50.2") and "significantly" not in best["rescue"]
    assert re.fullmatch(r"(p-pubs|flooding), 90.*; (p-pubs|flooding) not significantly worse", best["city"])
    (breaks,) = list_breaks(report).rows
    assert breaks[:4] == ["cbr", "convoy", report.conditions["convoy"].summarise(), "breaks"]
    assert breaks[2].startswith("movement by a trace, ") and breaks[2].endswith("events/s to 5 nodes each")


def test_conditions_name_obstacles_and_requests():
    walls = Conditions(48, 9.0, "static", 1.2, 4.0, 0.98, False, 0.0, obstacles=12)
    assert walls.describe().endswith("98 % reachable, 12 obstacles")
    assert walls.summarise() == "static, 1.2 events/s to 4 nodes each, obstacles"
    asked = Conditions(48, 9.0, "static", 1.2, 0.0, None, True, 7.0)
    assert asked.summarise() == "static, 7 requests/s, faults"


def test_only_marked_parts_of_a_page_are_written(report, tmp_path):
    file = tmp_path / "README.md"
    file.write_text("# Mine\n\n<!-- league: summary -->\nold\n<!-- league: end -->\n\nFindings of mine.\n")
    write_league(report, file)
    text = file.read_text()
    assert text.startswith("# Mine\n") and text.endswith("\n\nFindings of mine.\n") and "old" not in text
    assert len(re.findall(r"^\| (?:flooding|cbr|p-pubs) \|", text, re.MULTILINE)) == 3
    write_league(report, file)
    assert file.read_text() == text and not (tmp_path / "README").exists()
    for wrong, expected in (
        ("# No part\n", "no part of the league"),
        (text.replace("summary", "sum"), "unknown"),
    ):
        file.write_text(wrong)
        with pytest.raises(UserError, match=expected):
            write_league(report, file)


def test_a_world_without_positions_leaves_out_protocols_that_need_them_with_the_reason():
    league = make_league(["one-reader", "convoy"], ["flooding", "gpsr-unicast"], 1)
    assert list(league.unserved) == [("one-reader", "gpsr-unicast")]
    assert league.campaign.sweeps["one-reader"].protocols == ["flooding"]
    assert league.campaign.sweeps["convoy"].protocols == ["flooding", "gpsr-unicast"]
    with pytest.raises(UserError, match="no protocol can run"):
        make_league(["one-reader"], ["gpsr-unicast"], 1)


def test_every_shipped_world_of_the_league_can_be_planned_for_every_protocol():
    league = make_league(seeds=1)
    assert len(league.campaign.sweeps) == 10 and league.unserved == {}
    plan = make_plan(league.campaign)
    assert len(plan.runs) == 10 * len(league.campaign.protocols)


def test_the_experiments_of_the_page_can_be_planned():
    file = Path(__file__).parents[3] / "docs" / "examples" / "findings.toml"
    plan = check_campaign(file)
    assert len(plan.runs) == 80 and {place.seed for place in plan.places} == {11, 12, 13, 14, 15}
