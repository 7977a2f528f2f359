"""What breaks a law is made smaller until nothing can go."""

import msgspec
import pytest
from pydantic import model_validator

from roamcast.routing.flooding import Flooding
from roamcast.testing.swarm.draw import draw
from roamcast.testing.swarm.history import PublishStep
from roamcast.testing.swarm.judge import as_test, judge, judge_all
from roamcast.testing.swarm.shrink import shrink


class CannotCountToFour(Flooding):
    """Raises at its fourth publication."""

    def publish(self, publication):
        if publication.sequence % 2**24 > 3:
            raise OverflowError("four")
        super().publish(publication)


@pytest.fixture(scope="module")
def finding():
    findings = (judge(draw(seed, "flooding", CannotCountToFour), CannotCountToFour) for seed in range(20))
    return next(found for found in findings if found is not None and len(found.history.steps) > 20)


def test_a_shrunken_history_has_only_what_it_takes(finding):
    small = shrink(finding, CannotCountToFour, seconds=20)
    assert small.law == finding.law == "unbroken"
    assert len(small.history.steps) <= 4
    assert sum(isinstance(step, PublishStep) for step in small.history.steps) <= 4
    assert small.history.nodes == 1
    assert small.history.parameters == {}
    assert judge(small.history, CannotCountToFour) is not None
    assert judge(small.history, Flooding) is None


class CountsWithTwoParameters(CannotCountToFour):
    """The same, and one of its parameters has to be less than another."""

    class parameters_type(Flooding.parameters_type):
        few: int = 1
        many: int = 2

        @model_validator(mode="after")
        def _in_order(self):
            if self.few >= self.many:
                raise ValueError("few must be less than many")
            return self


def test_parameters_that_do_not_go_together_are_not_tried(finding):
    drawn = msgspec.structs.replace(finding.history, parameters={"many": 30, "few": 20})
    small = shrink(judge(drawn, CountsWithTwoParameters), CountsWithTwoParameters, seconds=20)
    assert small.history.parameters == {}
    assert small.history.nodes == 1


class LosesCountAndRaises(CannotCountToFour):
    """Delivers everything twice, too."""

    def receive(self, message, sender, signal):
        answer = super().receive(message, sender, signal)
        if answer is None and self.matches(message.publication.event):
            self.host.deliver(message.publication)
        return answer


def test_a_law_that_was_broken_beside_another_is_shrunken_by_itself():
    for seed in range(20):
        broken = judge_all(draw(seed, "flooding", LosesCountAndRaises), LosesCountAndRaises)
        if [finding.law for finding in broken] == ["unbroken", "once"]:
            break
    small = shrink(broken[1], LosesCountAndRaises, seconds=20)
    assert small.law == "once"
    assert sum(isinstance(step, PublishStep) for step in small.history.steps) <= 1
    assert [finding.law for finding in judge_all(small.history, LosesCountAndRaises)] == ["once"]


def test_without_time_a_finding_stays_as_it_is(finding):
    assert shrink(finding, CannotCountToFour, seconds=0) == finding


def test_a_finding_is_printed_as_a_test_that_runs(finding):
    space = {}
    exec("from roamcast.testing.swarm.history import read\n", space)
    space["judge"] = lambda history: judge(history, CannotCountToFour)
    exec(as_test(finding), space)
    [test] = [space[name] for name in space if name.startswith("test_")]
    with pytest.raises(AssertionError):
        test()
    space["judge"] = judge
    test()
