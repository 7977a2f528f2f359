"""A seed draws one history and always the same; kinds of trouble come and go from seed to seed."""

from collections import Counter

import pytest

from roamcast.routing import catalogue
from roamcast.testing.swarm.draw import draw
from roamcast.testing.swarm.history import Befall, Disturb, Forge, Publish, Step, read, write

PROTOCOLS = list(catalogue.BUILT_IN)


def kind(step: Step) -> str:
    return getattr(step, "rule", None) or getattr(step, "what", None) or type(step).__name__


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
    trouble = ["lose", "duplicate", "delay", "full_queue", "partition", "Forge"]
    trouble += [what for what in times if not isinstance(what, str)]
    assert len(trouble) == 6 + 7
    assert all(10 <= times[each] <= 110 for each in trouble), times
    assert any(not any(isinstance(s, Befall | Disturb | Forge) for s in h.steps) for h in histories)


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
        assert any(isinstance(step, Publish) for step in history.steps)
        assert all(0 <= step.at <= history.end for step in history.steps)
