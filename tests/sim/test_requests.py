"""Requesters: each request ends once, in one way, and as the deliveries say that it must."""

from collections import Counter
from math import inf, isnan

import pytest

from roamcast.content.filter import Filter
from roamcast.routing import catalogue
from roamcast.routing.flooding import Flooding
from roamcast.routing.router import Position
from roamcast.scenario.model import Scenario
from roamcast.sim.requests import requesters
from roamcast.sim.run import simulate
from roamcast.sim.workload import plan

from .test_faults import during, outages, rows


def market(*, faults=(), **request):
    interest = [f"/offer[item {test}]" for test in ("= 1", "< 4", "= 9")]
    asking = {"every": 4, "timeout": 6, "interest": interest}
    return Scenario.model_validate(
        {
            "name": "market",
            "location": True,
            "area": {"width": 600, "height": 300},
            "duration": 60,
            "quiet": 2,
            "nodes": {"all": {"count": 12, "mobility": "waypoint", "speed": (1, 5)}},
            "workload": {
                "publish": {
                    "all": {
                        "count": 4,
                        "every": 2,
                        "gaps": "exponential",
                        "content": {"type": "offer", "values": {"item": list(range(10))}},
                    }
                },
                "request": {"all": {"count": 8} | asking | request},
            },
            "faults": dict(faults),
        }
    )


TABLE = ("request", "node", "time", "wanted", "outcome", "answered", "publication", "fresh")
CACHING = {"clone", "grid-cbr"}
"These answer nearly everything from what somebody has kept."
CRASHES = {"x": {"group": "all", "crash": {"every": 12, "down": 3}}}


@pytest.mark.parametrize("protocol", catalogue.names())
@pytest.mark.parametrize("faults", [{}, CRASHES], ids=["calm", "crashes"])
def test_conservation_of_requests(protocol, faults, monkeypatch):
    """Every request that a router was asked ends exactly once, as deliveries and crashes say that it must."""
    router = catalogue.find(protocol)
    asked, ended = Counter(), Counter()
    request, satisfied = router.request, router.cancel_request

    def count_request(self, wanted):
        asked[self.host.node] += 1
        request(self, wanted)

    def count_satisfied(self, wanted):
        ended[self.host.node] += 1
        satisfied(self, wanted)

    monkeypatch.setattr(router, "request", count_request)
    monkeypatch.setattr(router, "cancel_request", count_satisfied)
    scenario = market(faults=faults)
    facts = simulate(scenario, protocol, 3)
    items = {
        id: scenario.content.types["offer"](item=int("".join(filter(str.isdigit, text))))
        for id, text in rows(facts, "publications", "publication", "event")
    }
    published = dict(rows(facts, "publications", "publication", "time"))
    deliveries = rows(facts, "deliveries", "time", "node", "publication")
    down = outages(facts, "up")
    requests = rows(facts, "requests", *TABLE)
    assert Counter(node for _, node, *_ in requests) == asked
    assert len({id for id, *_ in requests}) == len(requests) > 60
    outcomes = Counter()
    for id, node, time, wanted, outcome, answered, publication, fresh in requests:
        assert id >> 32 == node
        assert not during(down, node, time)
        outcomes[outcome] += 1
        wanted_filter = Filter.parse(wanted, scenario.content.types)
        crash = min((start for start, _ in down[node] if start >= time), default=inf)
        answers = [
            (t, p) for t, n, p in deliveries if n == node and t >= time and wanted_filter.matches(items[p])
        ]
        ends = [*answers, (time + 6, "expired"), (crash, "abandoned"), (60, "open")]
        when, what = min(ends, key=lambda end: end[0])
        if isinstance(what, str):
            assert (outcome, publication, fresh) == (what, -1, False)
            assert isnan(answered)
        else:
            assert (outcome, answered, publication) == ("satisfied", when, what)
            assert fresh is (published[what] >= time)
    assert outcomes["satisfied"] > 10
    assert outcomes["expired"] > 5 or protocol in CACHING
    assert (outcomes["abandoned"] > 0) is bool(faults)
    # A router hears of the end of each request, unless it has ended itself.
    closed = outcomes["satisfied"] + outcomes["expired"]
    assert closed - outcomes["abandoned"] - 8 <= sum(ended.values()) <= closed


def test_requests_make_no_expectations_and_no_interests():
    facts = simulate(market(), "flooding", 1)
    assert len(facts["requests"]) > 50
    assert len(facts["expectations"]) == len(facts["interests"]) == 0


class Hoarder(Flooding):
    """Keeps what it hears, and answers requests from there: at once, in the middle of being asked."""

    def __init__(self, host, parameters=None):
        super().__init__(host, parameters)
        self.kept = []
        self.within = False

    def receive(self, message, sender, signal):
        self.kept.append(message.publication)
        return super().receive(message, sender, signal)

    def request(self, wanted):
        self.within = True
        super().request(wanted)
        for publication in self.kept[-40:]:
            if wanted.matches(publication.event):
                self.host.deliver(publication)
        self.within = False

    def cancel_request(self, wanted):
        assert not self.within, "a router is not called from within its own call"
        super().cancel_request(wanted)


def test_a_cached_copy_satisfies_at_once_and_is_told_as_such(monkeypatch):
    monkeypatch.setattr("roamcast.routing.flooding.Flooding", Hoarder)
    facts = simulate(market(), "flooding", 1)
    answers = Counter()
    for *_, time, _, outcome, answered, _, fresh in rows(facts, "requests", *TABLE):
        if outcome == "satisfied":
            answers[fresh] += 1
            assert fresh or answered == time
    assert answers[False] > 50
    assert answers[True] > 0


def test_what_is_asked_for_follows_the_seed_the_skew_and_the_place():
    def requested(seed=1, **request):
        here = Position(0, 0)
        chosen = requesters(market(**request), seed)
        return [[str(asking.filter_at(n, here)) for n in range(200)] for asking in chosen]

    assert requested() == requested() != requested(seed=2)
    even, skewed = (
        Counter(wanted_filter for own in requested(skew=skew) for wanted_filter in own) for skew in (0.0, 2.0)
    )
    first, _, last = map(str, requesters(market(), 1)[0].listed)
    assert 0.28 < even[first] / even.total() < 0.39
    assert skewed[first] / skewed.total() == pytest.approx(36 / 49, abs=0.05)
    assert skewed[last] / skewed.total() == pytest.approx(4 / 49, abs=0.03)
    assert {len(set(own)) for own in requested(choose=2)} == {2}


def test_a_request_before_the_quiet_can_still_be_answered_by_what_is_published_in_it():
    assert max(planned.time for planned in plan(market(), 1).publications) > 58
    both = market().model_dump()["workload"] | {"subscribe": {"all": {"interest": ["/offer"]}}}
    standing = Scenario.model_validate(market().model_dump() | {"workload": both})
    assert max(planned.time for planned in plan(standing, 1).publications) < 58


def test_requests_come_at_their_intervals_and_stop_before_the_quiet():
    even = requesters(market(gaps="even"), 1)[0]
    times = list(even.times())
    assert 0 <= times[0] < 4
    assert times == pytest.approx([times[0] + 4 * n for n in range(len(times))])
    assert max(times) < 58 <= max(times) + 4
    drawn = [time for asking in requesters(market(every=0.1), 1) for time in asking.times()]
    assert len(drawn) == pytest.approx(8 * 580, rel=0.1)
