from pathlib import Path

import pytest

from roamcast.campaign.plan import apply_options, check_campaign, make_plan, read_campaign
from roamcast.errors import UserError

SCENARIO = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
HEAD = f"""
title = "A test"
scenario = "{SCENARIO}"
seeds = 2

[protocols.flooding]
[protocols.slow]
router = "flooding"
parameters.jitter = "20 ms"

[sweeps.people]
protocols = ["flooding", "slow"]
grid."workload.subscribe.walkers.count" = [10, 30, 50]
set.duration = "300 s"
"""


def write(tmp_path, text, head=HEAD):
    file = tmp_path / "campaign.toml"
    file.write_text(head + text)
    return file


def test_a_grid_is_the_product_of_its_axes_and_shared_runs_are_planned_once(tmp_path):
    file = write(
        tmp_path,
        """
[sweeps.speed]
protocols = ["flooding"]
grid."nodes.walkers.speed.max" = ["1 m/s", "10 m/s"]
grid."nodes.walkers.pause" = ["60 s", "0 s"]
set.duration = "300 s"
""",
    )
    plan = check_campaign(file)
    assert len(plan.places) == 3 * 2 * 2 + 2 * 2 * 2
    # 50 subscribers is the default, and so are 1 m/s and 60 s: the same two runs.
    assert len(plan.runs) == len(plan.places) - 2
    assert len({run.id for run in plan.runs}) == len(plan.runs)


def test_zipped_lists_go_together_and_points_are_taken_as_they_are(tmp_path):
    file = write(
        tmp_path,
        """
[sweeps.zipped]
protocols = ["flooding"]
zip = { "nodes.walkers.count" = [20, 40], "workload.subscribe.walkers.count" = [10, 20] }
points = [{ "radio.range" = "200 m" }, { "radio.range" = "250 m" }]
""",
    )
    points = read_campaign(file).sweeps["zipped"].expand()
    assert [tuple(point.values()) for point in points] == [
        (20, 10, "200 m"),
        (20, 10, "250 m"),
        (40, 20, "200 m"),
        (40, 20, "250 m"),
    ]
    assert len(check_campaign(file).runs) == 12 + 8


def test_an_id_depends_on_what_decides_the_run_and_on_nothing_else(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    one = check_campaign(write(tmp_path, ""))
    two = check_campaign(
        write(tmp_path / "elsewhere", "", HEAD.replace('jitter = "20 ms"', "jitter = '0.02 s'"))
    )
    other = check_campaign(write(tmp_path, "", HEAD.replace("20 ms", "21 ms")))
    assert [run.id for run in one.runs] == [run.id for run in two.runs]
    slow = {place.run for place in one.places if place.protocol == "slow"}
    assert {run.id for run in one.runs} - {run.id for run in other.runs} == slow


def test_the_command_of_a_run_plans_the_same_run(tmp_path):
    run = check_campaign(write(tmp_path, "")).runs[-1]
    assert run.command.endswith("--seed 2")
    assert (
        "--set protocol.flooding.jitter='20 ms'" in run.command
        or "'protocol.flooding.jitter=20 ms'" in run.command
    )


def test_quick_keeps_ends_and_few_seeds_and_only_keeps_what_a_figure_needs(tmp_path):
    campaign = read_campaign(
        write(
            tmp_path,
            """
[sweeps.speed]
protocols = ["flooding"]
grid."nodes.walkers.speed.max" = ["1 m/s", "10 m/s"]

[figures.six]
title = "Scalability"
sweep = "people"
x = "workload.subscribe.walkers.count"
y = ["delivery_rate"]

[claims.rate]
kind = "band"
says = "most arrive"
sweep = "speed"
metric = "delivery_rate"
protocol = "flooding"
low = 0.5

[quick]
seeds = 1
points = 2
set.duration = "250 s"
""",
        )
    )
    two = campaign.model_copy(update={"figures": dict.fromkeys(("six", "seven"), campaign.figures["six"])})
    quick = apply_options(campaign, quick=True)
    assert quick.sweeps["people"].grid == {"workload.subscribe.walkers.count": [10, 50]}
    assert {run.duration for run in make_plan(quick).runs} == {250.0}
    only = apply_options(campaign, only=["six"])
    assert list(only.sweeps) == ["people"] and not only.claims
    assert list(only.figures) == ["six"] and list(apply_options(two, only=["seven"]).figures) == ["seven"]
    assert len(make_plan(apply_options(campaign, seeds=5, only=["six"])).runs) == 3 * 2 * 5
    with pytest.raises(UserError, match="no figure 'seven'"):
        apply_options(campaign, only=["seven"])


WRONG = {
    "sweeps.people.protocols: 'floodin' is not a known protocol; did you mean 'flooding'?": HEAD.replace(
        'protocols = ["flooding", "slow"]', 'protocols = ["floodin"]'
    ),
    "unknown key; did you mean 'seeds'?": HEAD.replace("seeds = 2", "seds = 2"),
    "unknown metric 'delivery_rte'; did you mean 'delivery_rate'?": HEAD
    + '[figures.a]\ntitle = "x"\nsweep = "people"\nx = "anything"\ny = ["delivery_rte"]\n',
    "figures.a.x: 'seed' is not a known axis of the sweep": HEAD
    + '[figures.a]\ntitle = "x"\nsweep = "people"\nx = "seed"\ny = ["delay_mean"]\n',
    "a band needs low, high or both": HEAD
    + '[claims.a]\nkind = "band"\nsays = "x"\nsweep = "people"\nmetric = "energy"\nprotocol = "slow"\n',
    "no point of sweep 'people' has": HEAD
    + '[claims.a]\nkind = "band"\nsays = "x"\nsweep = "people"\nmetric = "energy"\nlow = 1\n'
    'protocol = "slow"\nwhere = { "workload.subscribe.walkers.count" = 11 }\n',
    "zipped lists must have the same length": HEAD + "zip = { a = [1, 2], b = [1] }\n",
    "is given both in set and in grid": HEAD + 'grid.duration = ["1 s"]\n',
    "wrkload: unknown key": HEAD.replace("workload.subscribe", "wrkload.subscribe"),
    "20 has no unit": HEAD.replace('"20 ms"', "20"),
}


@pytest.mark.parametrize("result", WRONG)
def test_a_mistake_is_told_in_one_line_that_names_the_place(tmp_path, result):
    with pytest.raises(UserError) as caught:
        check_campaign(write(tmp_path, "", WRONG[result]))
    assert result in str(caught.value), str(caught.value)
    assert "\n" not in str(caught.value)
