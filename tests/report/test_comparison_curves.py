"""Curves in a campaign's folder: read only if they are whole and of its runs."""

import msgspec
import numpy as np
import pytest
from finished_campaign import SHOPPING, write_tables

from roamcast.campaign.campaign import Campaign
from roamcast.metrics.run_curves import BINS, DELAYS
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.comparing import curves as curves_of
from roamcast.report.comparing.curves import ComparisonCurves, PlaceCurves, RunCurves
from roamcast.report.page.page import make_page
from roamcast.report.result import CampaignResult

TWO = ["flooding", "slow"]


@pytest.fixture
def result(tmp_path):
    campaign = Campaign.model_validate(
        {
            "title": "Two",
            "scenario": SHOPPING,
            "seeds": 6,
            "protocols": {
                "flooding": {},
                "slow": {"router": "flooding", "parameters": {"jitter": "20 ms"}},
            },
            "sweeps": {"scenario": {"protocols": TWO}},
            "measure": {"deadline": 2.0},
        }
    )
    store = CampaignFolder(tmp_path)
    store.create()
    store.write_campaign(campaign)
    write_tables(store, campaign)
    return CampaignResult(store)


def made(result, **changes):
    """Curves of all runs: the slow one takes twice the time for the same pairs."""
    runs = [
        RunCurves(
            seed=seed,
            protocol=protocol,
            within=np.linspace(0, 0.9, len(DELAYS)).tolist(),
            delivered=[None] * 10 + [0.9] * (BINS - 10),
            load=[0.3] * BINS,
            connectivity=[None] * 10 + [1.0] * (BINS - 10),
            delay=(0.1 + 0.001 * seed) * (2 if protocol == "slow" else 1),
        )
        for seed in range(1, 7)
        for protocol in TWO
    ]
    place = PlaceCurves(sweep="scenario", point="{}", duration=800.0, runs=runs)
    values = {"made_from": curves_of.digest_runs(result), "places": [place]} | changes
    return ComparisonCurves(**values)


def keep(result, curves):
    (result.store.folder / curves_of.FILE).write(msgspec.json.encode(curves))
    return CampaignResult(result.store)


def test_the_page_draws_them_and_ranks_delays_by_common_deliveries(result):
    found = keep(result, made(result))
    row = found.values["scenario", "{}", "slow", "delay_common"]
    assert row["count"] == 6 and row["mean"] == pytest.approx(0.207)
    assert 0 < row["lower"] < row["mean"] < row["upper"]
    page = make_page(found)
    for name in ("delivered-within", "delivery", "load", "connectivity", "trade-off", "delay_common"):
        assert f"download='{name}.svg'" in page or name == "trade-off"
    assert "Delay of common deliveries (s)" in page and "later than 2 s counts as lost" in page
    assert ">deadline<" in page.replace("> deadline<", ">deadline<")


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"made_from": 3}',
        lambda curves: setattr(curves, "made_from", "0" * 32),
        lambda curves: curves.places[0].runs[0].within.pop(),
        lambda curves: curves.places[0].runs[3].load.append(1.0),
        lambda curves: setattr(curves.places[0], "duration", 0.0),
    ],
)
def test_damaged_curves_or_those_of_other_runs_are_not_shown(result, damage):
    if isinstance(damage, bytes):
        (result.store.folder / curves_of.FILE).write(damage)
        found = CampaignResult(result.store)
    else:
        curves = made(result)
        damage(curves)
        found = keep(result, curves)
    assert found.curves is None
    assert "Delay of common deliveries" not in make_page(found)


def test_another_deadline_makes_them_stale(result):
    found = keep(result, made(result))
    assert found.curves is not None
    changed = found.campaign.model_copy(
        update={"measure": found.campaign.measure.model_copy(update={"deadline": 1.0})}
    )
    found.store.write_campaign(changed)
    assert CampaignResult(found.store).curves is None
