"""`check` refuses what `run` would die of."""

from pathlib import Path

import pytest

from roamcast.cli.app import invoke

SHOPPING = (Path(__file__).parents[2] / "scenarios" / "shopping.toml").read_text()
QUANTITIES = [
    ("[mac]\nbasic_rate = '1e-300 b/s'", "mac.basic_rate: '1e-300 b/s' is less than 1 b/s"),
    ("[mac]\nslot = '1e18 s'", "mac.slot: '1e18 s' is more than 1e+09 s"),
    ("[radio]\ncapture = '1e6 dB'", "radio.capture: '1e6 dB' is more than 1000 dB"),
    ("[radio]\nrange = '1e300 m'\ncarrier_sense = '1e301 m'", "radio.range: '1e300 m' is more than 1e+08 m"),
]


@pytest.mark.parametrize(("text", "result"), QUANTITIES)
def test_a_quantity_out_of_bounds_is_refused(tmp_path, capsys, text, result):
    file = tmp_path / "s.toml"
    file.write_text(f"{SHOPPING}\n{text}\n")
    assert invoke(["check", str(file)]) == 2
    assert result in capsys.readouterr().err


def test_a_parameter_that_makes_a_router_fail_is_reported(tmp_path, capsys):
    file = tmp_path / "s.toml"
    file.write_text(f"{SHOPPING}\n[protocol.flooding]\nseen_limit = {10**20}\n")
    assert invoke(["check", str(file)]) == 2
    message = capsys.readouterr().err
    assert "s.toml: a run would fail: RouterFailed: flooding failed on node 0" in message
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        "title = 'x'\nscenario = 'shopping'\nseeds = 1\n[protocols.flooding]\n[sweeps.a]\n"
        f"protocols = ['flooding']\ngrid.'protocol.flooding.seen_limit' = [100, {10**20}]\n"
    )
    assert invoke(["check", str(campaign)]) == 2
    assert "c.toml: roamcast run shopping" in capsys.readouterr().err


def test_what_is_right_passes(tmp_path, capsys):
    file = tmp_path / "s.toml"
    file.write_text(SHOPPING)
    assert invoke(["check", str(file)]) == 0
    assert "a scenario of 51 nodes for 800 s" in capsys.readouterr().out


def test_shipped_scenarios_and_campaigns_are_checked_by_name(capsys):
    assert invoke(["check", "shopping", "zhang", "shoping"]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith("shopping: a scenario of 51 nodes") and "\nzhang: a campaign of " in shown.out
    assert "shoping: no such file" in shown.err and "did you mean 'shopping'?" in shown.err


def test_a_scenario_with_a_schedule_of_publications_passes(tmp_path, capsys):
    (tmp_path / "schedule.csv").write_text("time,publisher,size,type\n5.0,0,256,news\n")
    file = tmp_path / "planned.toml"
    file.write_text(
        'name = "planned"\narea = { width = "100 m", height = "100 m" }\nduration = "20 s"\n'
        '[nodes.crowd]\ncount = 3\n[workload]\nschedule = "schedule.csv"\n'
        '[workload.subscribe.crowd]\ninterest = ["/news"]\n'
    )
    assert invoke(["check", str(file)]) == 0
    assert "1 publications and 3 subscribers" in capsys.readouterr().out
