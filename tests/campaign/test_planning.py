"""A plan by hand: what is kept of it, what shapes it, where a mistake stands, what makes a table stale."""

import tracemalloc

import pyarrow as pa
import pytest
from test_campaign_file import HEAD, write

import roamcast
from roamcast.campaign import lineage
from roamcast.campaign.lineage import SOURCES, digest_part, find_stale
from roamcast.campaign.plan import (
    CampaignError,
    CampaignPlan,
    apply_options,
    check_campaign,
    make_plan,
    read_campaign,
    with_seed,
)
from roamcast.campaign.version import code_version, own_version
from roamcast.errors import UserError


@pytest.fixture
def file(tmp_path):
    return write(tmp_path, "")


def test_a_plan_is_read_again_from_its_tables(file):
    plan = make_plan(read_campaign(file))
    tables = {name: pa.concat_tables(pieces) for name, pieces in plan.tables().items()}
    again = CampaignPlan.read(tables["plan"], tables["points"])
    assert again.runs == tuple(sorted(plan.runs, key=lambda run: run.id)) and set(again.places) == set(
        plan.places
    )


def test_a_run_knows_what_decides_it(file):
    plan = make_plan(read_campaign(file))
    run, again = plan.runs[0], plan.runs[1]
    assert (len(run.id), len(run.inputs), run.version) == (20, 8, code_version())
    assert (run.router, run.seed, again.seed, run.duration) == ("flooding", 1, 2, 300.0)
    assert with_seed(run, 2) == again and with_seed(again, 1) == run
    assert run.command.count(" --seed ") == 1 and run.command.endswith(" --seed 1")
    assert again.command == run.command.removesuffix("1") + "2"
    slow = next(each for each in plan.runs if "20 ms" in each.command)
    assert slow.router == "flooding" and '"jitter":0.02' in slow.parameters


def test_seeds_that_are_named_are_taken_from_the_first(tmp_path):
    named = read_campaign(write(tmp_path, "", HEAD.replace("seeds = 2", "seeds = [7, 3, 9]")))
    assert apply_options(named, seeds=2).seed_list == [7, 3]
    assert apply_options(named, quick=True).seed_list == [7, 3]
    assert apply_options(named, quick=True, seeds=1).seed_list == [7]
    counted = read_campaign(write(tmp_path, ""))
    assert apply_options(counted, seeds=5).seed_list == [1, 2, 3, 4, 5]
    assert apply_options(counted) == counted


def test_where_something_stands_in_the_file_is_told_by_its_line(file):
    campaign = read_campaign(file)
    lines = file.read_text().splitlines()
    seeds = lines.index("seeds = 2") + 1
    assert campaign.line_of("seeds") == f"{file}:{seeds}: seeds"
    assert campaign.line_of("nowhere.at.all", "seeds") == f"{file}:{seeds}: seeds"
    assert campaign.line_of("nowhere") == f"{file}: nowhere"
    fresh = type(campaign).model_validate(campaign.model_dump())
    assert fresh.line_of("seeds") == "--set"


def test_a_scenario_is_no_campaign_and_a_campaign_needs_its_scenario(tmp_path):
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('area = ["10 m", "10 m"]\n')
    with pytest.raises(CampaignError, match="is a scenario; compare protocols in it with: roamcast compare"):
        read_campaign(scenario)
    lines = HEAD.splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if text.startswith("scenario"))
    gone = HEAD.replace(lines[line - 1], 'scenario = "gone.toml"')
    with pytest.raises(CampaignError) as raised:
        read_campaign(write(tmp_path, "", gone))
    assert (
        str(raised.value) == f"{tmp_path}/campaign.toml:{line}: scenario: no such file: {tmp_path}/gone.toml"
    )


def test_a_sweep_may_have_a_scenario_of_its_own_also_one_that_comes_with_us(tmp_path):
    text = '[sweeps.other]\nscenario = "shopping"\nprotocols = ["flooding"]\n'
    campaign = read_campaign(write(tmp_path, text))
    assert campaign.sweeps["other"].scenario.name == "shopping.toml"
    assert campaign.sweeps["people"].scenario is None
    plan = check_campaign(tmp_path / "campaign.toml")
    assert [place.sweep for place in plan.places].count("other") == 2


def test_a_table_is_stale_with_its_sources_and_with_what_these_are_made_from():
    now = {source: f"{source} now" for sources in SOURCES.values() for source in sources}
    made = {table: {source: now[source] for source in sources} for table, sources in SOURCES.items()}
    assert find_stale(made.__getitem__, now.__getitem__) == frozenset()
    later = now | {"runs": "others"}
    assert find_stale(made.__getitem__, later.__getitem__) == {
        *("metrics", "summary", "differences", "verdicts")
    }
    claims = now | {"claims": "others"}
    assert find_stale(made.__getitem__, claims.__getitem__) == {"checks", "terms", "verdicts"}
    assert find_stale(lambda table: {}, now.__getitem__) == SOURCES.keys()


def test_a_part_of_a_campaign_has_a_digest_of_its_own():
    asked = {"protocols": 1, "sweeps": 2, "seeds": 3, "readings": 4, "claims": 5, "measure": 6}
    before = {part: digest_part(asked, part) for part in lineage.PARTS}
    assert {len(digest) for digest in before.values()} == {32}
    for key in asked:
        after = {part: digest_part(asked | {key: "x"}, part) for part in lineage.PARTS}
        moved = {part for part in before if before[part] != after[part]}
        assert moved == {part for part, keys in lineage.PARTS.items() if key in keys}


def test_the_version_changes_with_the_code_that_decides_and_with_the_names_of_its_files(
    tmp_path, monkeypatch
):
    def version(**files):
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in {"units": "u", "cli/app": "c", **files}.items():
            file = root / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.setattr(roamcast, "__file__", str(root / "__init__.py"))
        return own_version.__wrapped__()

    first = version(**{"wire/a": "1", "wire/b": "2"})
    assert first == version(**{"wire/a": "1", "wire/b": "2", "cli/app": "other"})
    assert first.startswith(f"{roamcast.__version__}+") and len(first.partition("+")[2]) == 8
    others = {
        version(**{"wire/a": "1", "wire/b": "3"}),
        version(**{"wire/a": "1", "wire/c": "2"}),
        version(**{"wire/a": "1", "wire/b": "2", "units": "other"}),
        version(**{"wire/a": "1", "wire/b": "2", "sim/deep/c": ""}),
    }
    assert len(others | {first}) == 5


WORLDS = """
title = "Worlds"
seeds = 1
[protocols.flooding]
[sweeps.worlds]
protocols = ["flooding"]
zip = { scenario = ["convoy", "small"], duration = ["90 s", "300 s"] }
[scenarios]
small = "shopping"
"""


def test_points_of_an_axis_of_scenarios_carry_the_scenario(tmp_path):
    file = tmp_path / "worlds.toml"
    file.write_text(WORLDS)
    plan = make_plan(read_campaign(file))
    points = {place.point: place.run for place in plan.places}
    assert set(points) == {
        '{"duration":"90 s","scenario":"convoy"}',
        '{"duration":"300 s","scenario":"small"}',
    }
    runs = {run.id: run for run in plan.runs}
    convoy, small = (runs[points[point]] for point in sorted(points, reverse=True))
    assert (convoy.nodes, convoy.duration) == (60, 90.0) and '"name":"convoy"' in convoy.scenario
    assert (small.nodes, small.duration) == (51, 300.0) and '"name":"shopping"' in small.scenario
    assert convoy.command == "roamcast run convoy --protocol flooding --set 'duration=90 s' --seed 1"


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (('"convoy"', '"convoi"'), r"sweeps.worlds.*no such file: .*convoi"),
        (('small = "shopping"', 'small = "nowhere.toml"'), r"scenarios.small.*no such file"),
        (('"convoy", "small"', '"convoy", 3'), "3 is not the name of a scenario"),
        (("zip =", 'scenario = "shopping"\nzip ='), "both a scenario and an axis of scenarios"),
        (("scenario = [", "seed = ["), "has no scenario, and the campaign has none either"),
    ],
)
def test_a_wrong_axis_of_scenarios_is_one_message(tmp_path, change, result):
    file = tmp_path / "worlds.toml"
    file.write_text(WORLDS.replace(*change))
    with pytest.raises(UserError, match=result):
        make_plan(read_campaign(file))


def test_the_runs_of_a_point_share_their_texts(file):
    campaign = apply_options(read_campaign(file), seeds=500)
    make_plan(campaign)  # what is cached once is not counted
    tracemalloc.start()
    plan = make_plan(campaign)
    held = tracemalloc.get_traced_memory()[0] / len(plan.runs)
    tracemalloc.stop()
    assert held < 450, f"{held:.0f} bytes a run, and the command alone has {len(plan.runs[0].command)}"
