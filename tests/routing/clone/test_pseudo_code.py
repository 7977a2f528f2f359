"""The steps of II-A1 and the formula E(H) of II-A2 read out as twins of CLONE's construction.

The paper leaves ties open: of equal weights the lower node id is the heavier.
"""

from fields import Content, lay, topic
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from roamcast.routing.clone.community import KnownPrincipal, OwnVote
from roamcast.routing.clone.messages import Confirmation, Vote
from roamcast.routing.clone.parameters import CloneParameters
from roamcast.routing.clone.similarity import digest
from roamcast.routing.unicast.gpsr.messages import PointCm

ME, TTL = 3, 3
VDT = 0.5
STAR = [(0.0, 150.0), (0.0, -150.0), (150.0, 0.0), (0.0, 0.0), (-150.0, 0.0)]


class Steps:
    """Steps 1 to 3 of a construction, at one node with the weight `cpw`."""

    def __init__(self, cpw):
        self.cpw = cpw
        self.max_cpw, self.principal = (cpw, -ME), ME  # 1: it sets the maximum CPW to be its own
        self.known = set()

    def receive(self, candidate, cpw, ttl):
        """2: compare, update the maximum, decrease the TTL and forward; otherwise drop."""
        if candidate in self.known or candidate == ME or ttl <= 0:
            return None
        self.known.add(candidate)
        if (cpw, -candidate) <= self.max_cpw:
            return None
        self.max_cpw, self.principal = (cpw, -candidate), candidate
        return (candidate, cpw, ttl - 1) if ttl - 1 > 0 else None

    def votes(self):
        """1: after VDT, unless a vote with a larger CPW was received."""
        return self.principal == ME


VOTES = st.lists(
    st.tuples(st.integers(5, 9), st.integers(0, 6), st.integers(1, TTL), st.booleans()), max_size=7
)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 6), VOTES)
def test_a_node_votes_and_forwards_as_the_steps_of_a_construction_say(cpw, votes):
    mesh = lay(STAR, parameters=CloneParameters(enhanced=False, ttl=TTL, jitter=0.0, voting=2.0))
    router, twin = mesh.routers[ME], Steps(cpw)
    own = OwnVote(cpw, router.geo.here(), frozenset())
    router.community.describe = lambda: own
    router.community.delay = lambda weight: VDT
    router.community.construct()
    early = [vote[:3] for vote in votes if vote[3]]
    late = [vote[:3] for vote in votes if not vote[3]]
    expected = []

    def hear(batch):
        for candidate, weight, ttl in batch:
            vote = Vote(candidate, weight, PointCm(0, 0), frozenset(), TTL - ttl)
            mesh.inject(ME, vote, sender=candidate % 3)
            onward = twin.receive(candidate, weight, ttl)
            if onward is not None:
                expected.append(onward)

    hear(early)
    mesh.run(for_=1.2 * VDT)
    if twin.votes():
        expected.append((ME, cpw, TTL))
    hear(late)
    mesh.run(for_=0.2)
    sent = [s.message for s in mesh.sent if s.node == ME and isinstance(s.message, Vote)]
    assert [(vote.candidate, vote.weight, TTL - vote.hops) for vote in sent] == expected
    mesh.run(for_=1.5)  # 3: the node with the maximum CPW confirms
    confirmed = [s.message.principal for s in mesh.sent if isinstance(s.message, Confirmation)]
    assert (ME in confirmed) == (twin.principal == ME)


def expected_hops(pr, interests, distance, radius):
    """E(H) as printed: Pr(i) is the probability of each content, B(i, S(H)) whether the principal has it."""
    hit = sum(pr[i] * (1 if i in interests else 0) for i in pr)
    return hit * distance + (1 - hit) * radius


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=12),
    st.frozensets(st.integers(1, 5)),
    st.integers(1, 3),
)
def test_expected_hops_are_those_of_the_formula(asked, interests, distance):
    mesh = lay(STAR, parameters=CloneParameters())
    mesh.advertise(0, Content.topic >= 1)
    mesh.run(for_=1)
    for number in asked:
        mesh.request(ME, topic(number))
    pr = {number: asked.count(number) / len(asked) for number in range(1, 6)}
    principal = KnownPrincipal(1, 1, frozenset(digest(topic(number)) for number in interests), distance, 1)
    router = mesh.routers[ME]
    found = router.reorganisation.expected_hops(principal)
    assert found == approx(expected_hops(pr, interests, distance, router.ads.span()))
