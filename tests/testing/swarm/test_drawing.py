"""A seed draws one history and always the same; kinds of trouble come and go from seed to seed."""

from collections import Counter

import pytest

from roamcast.routing import catalogue
from roamcast.routing.reference import own_protocols
from roamcast.testing.swarm.draw import draw
from roamcast.testing.swarm.history import (
    AdvertiseStep,
    FaultStep,
    ForgeStep,
    History,
    LinkRuleStep,
    PublishStep,
    Replay,
    Step,
    read,
    write,
)

PROTOCOLS = own_protocols()


def kind(step: Step) -> str:
    return getattr(step, "rule", None) or getattr(step, "kind", None) or type(step).__name__


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_seed_draws_the_same_history_again(protocol):
    for seed in range(10):
        assert draw(seed, protocol) == draw(seed, protocol)
    assert draw(1, protocol) != draw(2, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_history_is_data(protocol):
    for seed in range(10):
        history = draw(seed, protocol)
        assert read(write(history)) == history


def test_every_kind_of_trouble_is_in_some_histories_and_missing_in_others():
    histories = [draw(seed, "cbr") for seed in range(120)]
    times = Counter(kind(step) for h in histories for step in {kind(s): s for s in h.steps}.values())
    trouble = ["lose", "duplicate", "delay", "full_queue", "partition", "ForgeStep", "Replay"]
    trouble += [what for what in times if not isinstance(what, str)]
    assert len(trouble) == 7 + 7
    assert all(10 <= times[each] <= 110 for each in trouble), times
    assert any(
        not any(isinstance(s, FaultStep | LinkRuleStep | ForgeStep | Replay) for s in h.steps)
        for h in histories
    )


def test_ranges_are_unequal_clocks_drift_and_several_publish_in_some_histories():
    histories = [draw(seed, "cbr") for seed in range(120)]
    weak = [h for h in histories if any(is_weak_radio(step, h) for step in h.steps)]
    drifting = [h for h in histories if len({clock.rate for clock in h.clocks}) > 1]
    assert 10 < len(weak) < 110
    assert 10 < len(drifting) < 110
    assert all(len(h.clocks) in (0, h.nodes) for h in histories)
    assert {sum(isinstance(step, AdvertiseStep) for step in h.steps) for h in histories} == {1, 2, 3, 4}
    assert 10 < sum(bool(h.later) for h in histories) < 110


def is_weak_radio(step: Step, history: History) -> bool:
    return (
        isinstance(step, LinkRuleStep)
        and step.rule == "lose"
        and (step.at, step.until) == (0.0, history.end)
        and step.share == 1.0
        and step.receivers is not None
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_parameters_are_within_their_bounds_and_mostly_the_defaults(protocol):
    model = catalogue.find(protocol).parameters_type
    drawn = [draw(seed, protocol).parameters for seed in range(60)]
    for parameters in drawn:
        model.model_validate(parameters)
    assert 10 < sum(not parameters for parameters in drawn) < 60


def test_a_healed_network_is_connected_and_events_fit_what_was_offered():
    for seed in range(60):
        history = draw(seed, "flooding")
        reached = {0}
        for _ in range(history.nodes):
            reached |= {n for edge in history.healed if reached & set(edge) for n in edge}
        assert reached == set(range(history.nodes))
        assert any(isinstance(step, PublishStep) for step in history.steps)
        assert all(0 <= step.at <= history.end for step in history.steps)
