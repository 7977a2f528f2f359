"""A campaign with tables as its runs would have written them, and its report."""

import pytest
from finished_campaign import COUNT, KINDS, SEEDS, SHOPPING, write_tables

from roamcast.campaign.campaign import Campaign
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.page.page import make_page
from roamcast.report.result import CampaignResult


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    campaign = Campaign.model_validate(
        {
            "title": "Fast & <slow>",
            "paper": "Someone, section 5",
            "scenario": SHOPPING,
            "seeds": SEEDS,
            "protocols": {"flooding": {}, "slow": {"router": "flooding", "parameters": {"jitter": "20 ms"}}},
            "sweeps": {"people": {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 30, 50]}}},
            "figures": {
                "one": {
                    "title": "Figure 1",
                    "sweep": "people",
                    "x": COUNT,
                    "x_title": "subscribers",
                    "y": ["delivery_rate", "delay_mean", KINDS],
                }
            },
            "claims": {
                name: {
                    "kind": "band",
                    "says": f"The {name} claim",
                    "section": "5.1",
                    "figure": "figure 1",
                    "paper": "about 75 %",
                    "sweep": "people",
                    "metric": "delivery_rate",
                    "protocol": "slow",
                    "low": low,
                }
                for name, low in (("true", 0.5), ("false", 0.72), ("open", 0.7))
            },
        }
    )
    store = CampaignFolder(tmp_path_factory.mktemp("campaign"))
    store.create()
    store.write_campaign(campaign, quick=True, seconds={"session": 7.0})
    write_tables(store, campaign)
    return CampaignResult(store)


@pytest.fixture(scope="module")
def page(result):
    return make_page(result)
