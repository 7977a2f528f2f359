"""Communities: a construction ends with everyone in one, orphans find each other, nothing forged stays."""

from random import Random

from fields import Content, communities, construct, hops_between, lay, scatter, street, topic
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.clone.community import LAST, KnownPrincipal, OwnVote
from roamcast.routing.clone.messages import (
    HEAVIEST,
    MOST_INTERESTS,
    CommunityBeacon,
    Confirmation,
    Merge,
    Vote,
)
from roamcast.routing.clone.parameters import CloneParameters
from roamcast.routing.clone.similarity import RequestHistory, digest, similarity, weigh
from roamcast.routing.router import Drop
from roamcast.routing.unicast.gpsr.messages import PointCm

BASIC = CloneParameters(enhanced=False, ttl=2)
ENHANCED = CloneParameters(reorganise=5.0)


def interested(seed, parameters=BASIC, nodes=18):
    """A field of nodes that have asked for this and that, and heard each other's beacons."""
    mesh = lay(scatter(seed, nodes), parameters=parameters)
    random = Random(seed)
    for node in range(nodes):
        for _ in range(random.randint(0, 6)):
            mesh.request(node, topic(random.randint(1, 6)))
    mesh.run(for_=8)
    mesh.sent.clear()
    return mesh


def test_similarity_and_weight_are_those_of_figure_1():
    a, b, e = frozenset({1, 2, 3, 4, 5}), frozenset({1, 2, 3, 4, 5, 6}), frozenset({1, 2, 6, 3})
    assert similarity(a, e) == 3 == similarity(e, a)
    assert weigh(a, [e, frozenset({1, 2, 3, 4}), frozenset({1, 2, 3}), frozenset({3, 4, 5, 6}), b]) == 18
    assert weigh(a, []) == 0
    assert weigh(frozenset(range(30)), [frozenset(range(30))] * 5000) == HEAVIEST


def test_interests_are_what_was_asked_for_lately_and_how_often():
    interests = RequestHistory(memory=100.0)
    for time, number in ((0.0, 1), (50.0, 2), (60.0, 2), (70.0, 3)):
        interests.note(topic(number), time)
    assert interests.set(80.0) == {digest(topic(number)) for number in (1, 2, 3)}
    assert interests.set(120.0) == {digest(topic(number)) for number in (2, 3)}
    assert interests.share(frozenset({digest(topic(2))}), 120.0) == 2 / 3
    assert interests.share(frozenset(), 500.0) == 0.0


def test_of_more_interests_than_a_message_holds_the_latest_count():
    numbers = EventType("numbers", {"number": Integer(0, 99)})
    interests = RequestHistory(memory=100.0)
    for number in (*range(MOST_INTERESTS + 5), 0, 1, 1, 0):
        interests.note(numbers.number == number, 1.0)
    latest = (*range(7, MOST_INTERESTS + 5), 0, 1)
    assert interests.set(1.0) == {digest(numbers.number == number) for number in latest}


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_a_construction_ends_with_everyone_in_the_community_of_the_heaviest_principal_it_heard(seed):
    mesh = interested(seed)
    construct(mesh)
    chosen = communities(mesh)
    votes = [sent for sent in mesh.sent if isinstance(sent.message, Vote)]
    weights = {sent.message.candidate: sent.message.weight for sent in votes}
    confirmed = {
        s.message.principal: s.message.weight for s in mesh.sent if isinstance(s.message, Confirmation)
    }
    for node, principal in enumerate(chosen):
        assert chosen[principal] == principal
        assert hops_between(mesh, node, principal) <= BASIC.ttl
        near = {node, *mesh.neighbours(node)}
        reached = {s.message.candidate for s in votes if s.node in near and s.message.hops < BASIC.ttl}
        able = [(confirmed[p], -p) for p in confirmed if p == node == principal or p in reached]
        assert (confirmed[principal], -principal) == max(able)
    assert all(weights.get(p, confirmed[p]) == confirmed[p] for p in confirmed)


def test_the_fields_of_that_law_have_several_communities_and_silent_voters():
    several = suppressed = 0
    for seed in range(12):
        mesh = interested(seed)
        construct(mesh)
        several += len(set(communities(mesh))) > 1
        voted = {sent.message.candidate for sent in mesh.sent if isinstance(sent.message, Vote)}
        suppressed += len(voted) < len(mesh.hosts)
    assert several >= 3 and suppressed == 12


def test_the_heavier_votes_first_and_without_interests_nothing_divides_by_zero():
    router = lay([(0, 0)]).routers[0]
    delays = [router.vote_delay(weight) for weight in (0, 1, 20, 50, HEAVIEST)]
    assert delays == sorted(set(delays), reverse=True)
    assert 20 * delays[2] == 50 * delays[3] == HEAVIEST * delays[4]
    assert delays[0] <= LAST * router.parameters.voting


def test_the_tenth_advertisement_begins_a_construction():
    mesh = lay(street(4), advertise=5.0)
    mesh.advertise(0, topic(1))
    mesh.run(for_=120)
    assert {router.community.constructions for router in mesh.routers} <= {1, 2, 3}
    assert min(router.community.constructions for router in mesh.routers) >= 1
    assert len(set(communities(mesh))) == 1


def test_who_voted_last_time_begins_the_next_construction_but_not_one_that_has_just_ended():
    mesh = lay(street(3), parameters=BASIC)
    mesh.run(for_=6)
    construct(mesh)
    [principal] = set(communities(mesh))
    other = next(node for node in range(3) if node != principal)
    community = mesh.routers[other].community
    vote = Vote(principal, 3, PointCm(0, 0), frozenset(), 0)
    assert mesh.inject(other, vote, sender=principal) is Drop.EXPIRED
    assert community.constructions == 1
    mesh.run(for_=2 * (BASIC.voting + BASIC.confirmation_wait))
    mesh.inject(other, vote, sender=principal)
    assert community.constructions == 2


def test_those_whose_candidate_joined_another_vote_once_more_among_themselves():
    #  2 votes, and 0 hears of the construction from that and is heavier: 2 joins 0, whose vote ends at 2.
    weights = [9, 1, 5, 2, 3]
    mesh = lay(street(5), parameters=CloneParameters(enhanced=False, ttl=2, vote_delay=1.0))
    mesh.run(for_=6)
    for router, weight in zip(mesh.routers, weights, strict=True):
        own = OwnVote(weight, router.geo.here(), frozenset())
        router.community.describe = lambda own=own: own
    for router in mesh.routers[1:]:
        router.community.construct()
    mesh.run(for_=12)
    assert communities(mesh) == [0, 0, 0, 4, 4]


def test_an_orphan_that_no_orphan_answers_joins_the_community_beside_it():
    mesh = lay(street(5), parameters=CloneParameters(reorganise=5.0))
    mesh.run(for_=8)
    routers = mesh.routers
    for node, via in ((1, 0), (2, 1)):
        routers[node].community.join(KnownPrincipal(0, 9, frozenset(), node, via))
    routers[0].community.become_principal(9)
    routers[3].community.become_principal(9)
    routers[4].community.join(KnownPrincipal(3, 9, frozenset(), 1, 3))
    mesh.run(for_=25)
    assert communities(mesh)[:4] == [0, 0, 0, 0]
    assert {3, 4} & {sent.node for sent in mesh.sent if isinstance(sent.message, Merge)}


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_after_merging_no_orphan_has_an_orphan_beside_it(seed):
    mesh = interested(seed, ENHANCED, nodes=10)
    construct(mesh)
    mesh.run(for_=60)
    chosen = communities(mesh)
    orphans = {p for p in chosen if chosen.count(p) < ENHANCED.orphan}
    for node, principal in enumerate(chosen):
        assert chosen[principal] == principal
        for other in mesh.neighbours(node):
            assert chosen[other] == principal or not {chosen[other], principal} <= orphans


def test_a_node_between_two_orphans_splits_off_and_forms_a_community_with_them():
    #  0 - 1 - 2 - 3(d) - 4(i)   i and j are out of reach of 0's vote, and of each other; d hears both.
    #                 \ 5(j)
    places = [*street(4), (600.0, 100.0), (600.0, -100.0)]
    mesh = lay(places, parameters=CloneParameters(reorganise=5.0, ttl=3))
    for node in range(3):
        mesh.request(node, topic(1))
    mesh.run(for_=6)
    mesh.cut(4, 5)
    routers = mesh.routers
    for node, via in ((1, 0), (2, 1), (3, 2)):
        routers[node].community.join(KnownPrincipal(0, 9, frozenset(), node, via))
    routers[0].community.become_principal(9)
    mesh.run(for_=20)
    assert len({*communities(mesh)[4:]}) == 1
    assert communities(mesh)[4] == communities(mesh)[3] == 3


def test_expected_hops_weigh_what_a_principal_has_against_how_far_it_is():
    mesh = lay(street(3))
    router = mesh.routers[0]
    for number in (1, 1, 1, 2):
        router.note_request(topic(number))
    near = KnownPrincipal(1, 5, frozenset(), 1, 1)
    able = KnownPrincipal(2, 5, frozenset({digest(topic(1))}), 2, 1)
    router.ads.span = lambda: 10
    expected = router.reorganisation.expected_hops
    assert expected(near) == 10 and expected(able) == 0.75 * 2 + 0.25 * 10
    router.community.join(near)
    router.community.heard.renew(1, CommunityBeacon(PointCm(0, 0), frozenset(), 1, 5, 1, 0, 9), mesh.now)
    router.reorganisation.consider(able)
    assert router.community.principal == 2


def test_a_principal_that_dies_is_replaced_at_the_next_construction():
    mesh = lay(street(4), advertise=5.0)
    mesh.advertise(3, topic(1))
    mesh.run(for_=70)
    (principal,) = set(communities(mesh))
    mesh.kill(principal)
    mesh.run(for_=80)
    alive = [node for node in range(4) if node != principal]
    assert principal not in {communities(mesh)[node] for node in alive}
    beside = [node for node in alive if node != 3 and all(n in alive for n in range(node, 4))]
    for node in beside:
        mesh.request(node, topic(1))
    mesh.run(for_=3)
    mesh.publish(3, Content(topic=1))
    mesh.run(for_=3)
    assert {d.node for d in mesh.deliveries} == set(beside)
    assert beside


def test_forged_votes_of_every_weight_are_bounded_and_forgotten():
    mesh = lay(street(3), parameters=CloneParameters(candidates=20, enhanced=False))
    mesh.run(for_=6)
    for liar in range(60):
        vote = Vote(1000 + liar, HEAVIEST, PointCm(0, 0), frozenset(), liar % 256)
        assert mesh.inject(1, vote, sender=9) in (None, *Drop)
        mesh.inject(1, Confirmation(3000 + liar, HEAVIEST, PointCm(0, 0), frozenset(), 0), sender=9)
        mesh.inject(
            1, CommunityBeacon(PointCm(9, 9), frozenset(), 7, HEAVIEST, 1, 0, 65535), sender=5000 + liar
        )
        mesh.inject(1, Merge(4000 + liar, HEAVIEST, 0), sender=9)
    for table in mesh.routers[1].tables().values():
        assert table.entries <= table.limit
    mesh.run(for_=150)
    construct(mesh)
    assert set(communities(mesh)) <= {0, 1, 2}


def test_far_travelled_votes_and_those_in_my_name_go_no_further():
    mesh = lay(street(3))
    mesh.run(for_=3)
    far = Vote(77, 5, PointCm(0, 0), frozenset(), 3)
    assert mesh.inject(1, far, sender=0) is Drop.HOP_LIMIT
    assert mesh.inject(1, Vote(1, 5, PointCm(0, 0), frozenset(), 0), sender=0) is Drop.DUPLICATE
    assert mesh.inject(1, far, sender=1) is Drop.MALFORMED
