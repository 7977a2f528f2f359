"""Small runs of every protocol whose facts are known: a change here changes results, and must be meant.

If it is meant, write the new facts with `python -m tests.golden` and say in the change why results differ.
"""

from collections import Counter

import pytest

from roamcast.facts.diff import compare, describe
from roamcast.facts.tables import Facts
from roamcast.metrics.run_metrics import measure
from roamcast.routing.reference import own_protocols

from .runs import HERE, RUNS


@pytest.mark.parametrize("name", RUNS)
def test_the_facts_of_a_known_run_have_not_changed(name):
    difference = compare(Facts.read(HERE / name), RUNS[name].play())
    assert difference.equal, "\n".join(["", *describe(difference, "known", "now")])


def test_every_protocol_of_the_catalogue_has_a_known_run():
    assert {known.protocol for known in RUNS.values()} == set(own_protocols())


BROADCASTS = {"flooding", "odmrp", "pubsub-odmrp", "p-pubs", "tpsr", "tpsr-repairing"}
"Those that never address a frame to one neighbour."


@pytest.fixture(params=RUNS)
def known(request):
    return request.param, Facts.read(HERE / request.param)


def test_a_known_run_delivers_and_fails_to_deliver(known):
    name, facts = known
    metrics = measure(facts)
    assert 100 < metrics.delivered < metrics.expected
    if name not in BROADCASTS:
        assert metrics.frames["ack"] > 50
        assert metrics.frames["retry_limit"] > 0
    assert metrics.frames["collided"] > 10


MEMBERS = ["CommunityBeacon", "CommunityEvent", "CommunityWish", "Confirmation"]
PROVIDERS = ["ProviderAdvert", "ProviderEvent", "ProviderWish"]
SPEAKS = {
    "flooding": ["Flood"],
    "cbr": ["Advert", "Subscription", "TreeEvent"],
    "cbr-covering": ["Advert", "MostCovering", "Subscription", "TreeEvent"],
    "ft-cbr": ["Advert", "EventAck", "Subscription", "TreeEvent"],
    "raft-cbr": [
        *("Ack", "Advert", "DsdvUpdate", "EditionAck", "Nack", "Ping", "Subscribe", "SubscribeAck"),
        "XcastEvent",
    ],
    "odmrp": ["Announcement", "ChannelData", "JoinData", "JoinTable"],
    "p-pubs": ["PampaEvent"],
    "tpsr": ["JobAck", "PampaEvent", "RouteSubscription", "RoutedEvent"],
    "tpsr-repairing": ["JobAck", "PampaEvent", "Rescue", "RouteSubscription", "RoutedEvent"],
    "pubsub-odmrp": ["ContentRequest", "EventRequest", "GroupEvent", "SummaryTable"],
    "pubsub-odmrp-published": [
        *("ClientEvent", "ClientWish", "ContentRequest", "DsdvUpdate", "GroupEvent", "SummaryTable"),
    ],
    "dsdv-unicast": ["Copy", "DsdvUpdate"],
    "grid-cbr": [*MEMBERS, *PROVIDERS, "Vote"],
    "clone": [*MEMBERS, "Delegation", "Merge", *PROVIDERS, "Vote"],
    "clone-tree": ["BranchEvent", *MEMBERS, "Delegation", "Merge", *PROVIDERS, "Vote"],
    "aodv-unicast": ["Copy", "RouteError", "RouteReply", "RouteRequest"],
    "dsr-unicast": ["Copy", "DsrError", "DsrReply", "DsrRequest"],
    "gpsr-unicast": ["Beacon", "Copy", "Whereabouts"],
}
SPEAKS |= {
    "ft-cbr-as-published": SPEAKS["ft-cbr"],
    "raft-cbr-as-published": [kind for kind in SPEAKS["raft-cbr"] if kind != "EditionAck"],
}


def test_a_known_run_uses_all_that_its_protocol_can_say(known):
    name, facts = known
    said = Counter(facts["transmissions"]["kind"].to_pylist())
    assert sorted(said) == SPEAKS[name]
    assert min(said.values()) >= 20


LETS_GO = {
    "flooding": {"duplicate"},
    "cbr": {"duplicate", "not_mine", "unwanted"},
    "cbr-covering": {"duplicate", "not_mine", "unwanted", "expired"},
    "ft-cbr": {"duplicate", "not_mine", "unwanted", "expired"},
    "ft-cbr-as-published": {"duplicate", "not_mine", "unwanted", "expired"},
    "raft-cbr": {"duplicate", "no_route", "hop_limit", "unwanted"},
    "odmrp": {"duplicate", "not_mine", "expired", "unwanted"},
    "p-pubs": {"duplicate", "suppressed"},
    "tpsr": {"duplicate", "not_mine", "suppressed"},
    "tpsr-repairing": {"duplicate", "not_mine", "suppressed"},
    "raft-cbr-as-published": {"duplicate", "no_route", "unwanted"},
    "pubsub-odmrp": {"duplicate", "not_mine", "unwanted"},
    "pubsub-odmrp-published": {"duplicate", "not_mine", "unwanted"},
    "dsdv-unicast": {"table_full"},
    "grid-cbr": {"duplicate", "not_mine", "no_route", "unwanted"},
    "clone": {"duplicate", "not_mine", "no_route", "unwanted", "suppressed"},
    "clone-tree": {"duplicate", "not_mine", "no_route", "unwanted", "suppressed"},
    "aodv-unicast": {"duplicate", "not_mine", "no_route", "hop_limit", "table_full", "suppressed"},
    "dsr-unicast": {"duplicate", "no_route", "hop_limit", "table_full"},
    "gpsr-unicast": {"duplicate", "no_route"},
}


def test_a_known_run_lets_messages_go_for_all_its_reasons(known):
    name, facts = known
    assert facts.run.drops.keys() >= LETS_GO[name]


def test_repairs_bring_more_than_the_tree_alone():
    plain, repaired = (measure(Facts.read(HERE / name)) for name in ("cbr", "ft-cbr"))
    assert repaired.delivered > plain.delivered + 100
