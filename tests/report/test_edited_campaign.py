"""Reports of campaigns that were edited after their runs, and how reports end."""

import typer
from finished_campaign import write_tables

from roamcast.campaign.plan import make_plan
from roamcast.cli.app import invoke
from roamcast.cli.shared.campaign_command import finish
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.drawings.figures import FigurePanels, svg_text
from roamcast.report.page.appendix import make_appendix
from roamcast.report.page.page import make_page
from roamcast.report.page.verdicts import make_claims
from roamcast.report.result import CampaignResult


def of_own(campaign, **changes):
    """A campaign of one's own: no paper."""
    claims = {name: claim.model_copy(update={"paper": ""}) for name, claim in campaign.claims.items()}
    return campaign.model_copy(update={"paper": "", "claims": claims} | changes)


def report(campaign, folder, **notes):
    store = CampaignFolder(folder)
    store.create()
    store.write_campaign(campaign, **notes)
    write_tables(store, campaign)
    return CampaignResult(store)


def test_a_campaign_of_ones_own_has_no_column_for_the_paper(result, tmp_path):
    own = report(of_own(result.campaign), tmp_path)
    assert "The paper" in make_claims(result, result.claims)
    found = make_claims(own, own.claims)
    assert "The true claim" in found and "The paper" not in found


def test_a_sweep_over_the_number_of_nodes_states_all_of_them(result, tmp_path):
    sweep = result.campaign.sweeps["people"].model_copy(update={"grid": {"nodes.walkers.count": [60, 80]}})
    changes = {"sweeps": {"people": sweep}, "figures": {}, "claims": {}}
    found = make_appendix(report(result.campaign.model_copy(update=changes), tmp_path))
    assert "61 to 81 nodes for 800 s" in found


def test_with_few_seeds_figures_show_the_seeds_as_dots(result, tmp_path):
    few = report(of_own(result.campaign, seeds=2), tmp_path)
    drawn = [svg_text(FigurePanels(expected, "one").single_panels()[0].draw()) for expected in (few, result)]
    assert drawn[0].count('<g id="PathCollection') > 0 == drawn[1].count('<g id="PathCollection')
    assert "(few seeds)" in make_claims(few, few.claims)


def test_an_edited_claim_is_never_shown_with_the_verdict_of_the_old_one(result, tmp_path):
    found = report(result.campaign, tmp_path)
    assert not found.stale and found.claims[0].verdict == "held"
    harder = found.campaign.claims["true"].model_copy(update={"low": 0.9})
    edited = found.campaign.model_copy(update={"claims": found.campaign.claims | {"true": harder}})
    found.store.write_campaign(
        edited, command="roamcast campaign run c.toml --out x"
    )  # then it is interrupted
    stale = CampaignResult(found.store)
    assert stale.stale == {"checks", "terms", "verdicts"}
    page = make_page(stale)
    assert "Go on with: roamcast campaign run c.toml" in page
    assert "<strong>held</strong>" not in page and "claims held" not in page
    assert "<svg" in page  # what was measured is still what was asked


def test_an_edited_sweep_makes_every_number_stale(result, tmp_path):
    found = report(result.campaign, tmp_path)
    found.store.write_campaign(found.campaign.model_copy(update={"seeds": 7}))
    found.store.write_plan(make_plan(found.campaign.model_copy(update={"seeds": 7})))
    stale = CampaignResult(found.store)
    assert {"runs", "metrics", "summary", "verdicts"} <= stale.stale
    page = make_page(stale)
    assert "<strong>held</strong>" not in page and "<svg" not in page


def test_tables_of_nobody_knows_what_are_stale(result, tmp_path):
    found = report(result.campaign, tmp_path)
    found.store.table_file("metrics").write(b"no table")
    assert {"metrics", "summary", "differences", "verdicts"} <= CampaignResult(found.store).stale


def test_failed_runs_end_in_a_warning_and_claims_that_do_not_hold_count_when_strict(result, tmp_path, capsys):
    def end(found, **how):
        try:
            finish(found, as_json=True, **how)
        except typer.Exit as exit_:
            return exit_.exit_code
        return 0

    assert end(result) == 3
    assert "roamcast: warning: 1 of 36 runs failed; the first: RuntimeError" in capsys.readouterr().err
    assert end(result, strict=True) == 1
    whole = report(result.campaign, tmp_path)
    for run in whole.tables["runs"]:
        run |= {"status": "done", "error": ""}
    assert end(whole) == 0
    assert end(whole, strict=True) == 1  # one claim does not hold
    whole.campaign.claims.pop("false")
    assert end(whole, strict=True) == 1  # one is undecided
    whole.campaign.claims.pop("open")
    assert end(whole, strict=True) == 0


def test_a_report_of_stale_tables_says_so_and_ends_with_3(result, tmp_path, capsys):
    found = report(result.campaign, tmp_path)
    found.store.write_campaign(
        found.campaign.model_copy(update={"seeds": 7}), command="roamcast campaign run c"
    )
    assert invoke(["campaign", "report", str(tmp_path)]) == 3
    assert "Go on with: roamcast campaign run c" in capsys.readouterr().err
    assert "Not the result." in (tmp_path / "report.html").read_text()
