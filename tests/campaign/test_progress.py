"""The time that is left: by what each protocol's runs took, on the slots that there are."""

from pathlib import Path

import pytest

from roamcast.campaign.campaign import Variant
from roamcast.campaign.plan import make_run, with_seed
from roamcast.campaign.progress import Progress, estimate
from roamcast.cli.shared.progress import describe

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"


@pytest.fixture(scope="module")
def runs():
    """Two runs of cbr and four of flooding, two of them twice as long."""
    cbr = make_run(SHOPPING, "cbr", Variant(), {}, 1)
    flooding = make_run(SHOPPING, "flooding", Variant(), {}, 1)
    longer = make_run(SHOPPING, "flooding", Variant(), {"duration": "1600 s"}, 1)
    return [with_seed(run, seed) for run in (cbr, flooding, longer) for seed in (1, 2)]


def outcome(run, wall, status="done"):
    return {"run": run.id, "status": status, "wall": wall, "error": ""}


def test_a_run_takes_what_its_protocol_took_for_its_size(runs):
    cbr, _, flooding, _, longer, _ = runs
    found = estimate([cbr, flooding, longer], [(cbr, 8.0), (flooding, 2.0)])
    assert [found[run.id] for run in (cbr, flooding, longer)] == pytest.approx([8.0, 2.0, 4.0])


def test_a_protocol_not_yet_seen_takes_the_usual_time_and_nothing_known_orders_by_size(runs):
    cbr, _, flooding, _, longer, _ = runs
    assert estimate([flooding], [(cbr, 8.0)])[flooding.id] == pytest.approx(8.0)
    unknown = estimate(runs, [])
    assert unknown[longer.id] == 2 * unknown[cbr.id] == 2 * unknown[flooding.id]


def test_the_rest_is_shared_by_the_slots(runs):
    progress = Progress(runs, slots=2)
    assert progress.left is None
    progress.update([outcome(runs[0], 8.0), outcome(runs[2], 2.0, "failed")], now=100.0)
    assert (progress.done, progress.failed) == (1, 1)
    assert progress.ends == pytest.approx(100.0 + (8 + 2 + 4 + 4) / 2)
    ended = [outcome(run, wall) for run, wall in zip(runs[:5], (8, 8, 2, 2, 4), strict=True)]
    progress.update(ended, now=200.0)
    assert progress.ends == pytest.approx(204.0)  # one run keeps one slot
    progress.update([*ended, outcome(runs[5], 4.0), outcome(runs[5], 4.0)], now=210.0)
    assert progress.done == 6 and progress.ends == 210.0


def test_what_is_heard_bit_by_bit_comes_to_what_the_whole_comes_to(runs):
    many = [with_seed(run, seed) for run in runs[::2] for seed in range(3, 23)]
    progress = Progress(many, slots=3)
    ended = {}
    for number, run in enumerate(many[::7] + many[3::7] + many[::14]):  # some are told twice
        ended[run.id] = outcome(run, 1.0 + number % 5, "failed" if number % 3 == 0 else "done")
        progress.update([ended[run.id]], now=50.0)
        took = [(run, ended[run.id]["wall"]) for run in many if run.id in ended]
        waiting = [run for run in many if run.id not in ended]
        assert progress.ends == pytest.approx(50.0 + sum(estimate(waiting, took).values()) / 3)
        states = [entry["status"] for entry in ended.values()]
        assert (progress.done, progress.failed) == (states.count("done"), states.count("failed"))


def test_a_full_disk_is_trouble_and_neither_done_nor_failed(runs):
    progress = Progress(runs, slots=2)
    progress.update([{"run": runs[0].id, "status": "disk full", "wall": None, "error": "No space left"}], 1.0)
    assert (progress.done, progress.failed, progress.trouble) == (0, 0, "No space left")
    assert progress.left is None


def test_where_only_numbers_are_told_the_time_left_follows_from_the_pace(runs):
    progress = Progress(runs, slots=2)  # six
    progress.count(0, 100.0)
    assert progress.ends is None
    progress.count(2, 110.0)
    assert (progress.done, progress.ends) == (2, 130.0)
    progress.count(1, 120.0)  # an earlier stage had fewer
    assert progress.done == 2
    progress.count(9, 130.0)
    assert progress.done == 6


def test_the_bar_goes_on_with_what_was_done_before(runs):
    progress = Progress(runs[3:], slots=2, planned=len(runs), earlier=2, earlier_failed=1)
    progress.update([outcome(runs[3], 2.0)], now=0.0)
    assert describe(progress).startswith("3 of 6 runs done, 1 failed")
