"""RAFT-CBR's broker against a twin that is figure 4 of the paper read out (`d[n]` of line 25 is `ds[n]`)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import Addressee, XcastEvent, version_of
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.profiles import AS_PUBLISHED, with_profile
from roamcast.routing.router import Publication
from roamcast.testing import Mesh
from roamcast.units import FROM_FILE

Coupon = EventType("coupon", {"zone": Integer()})
ME, PUBLISHER = 1, 0
AS_PRINTED = RaftCbrParameters.model_validate(
    with_profile(RaftCbr, {"profile": AS_PUBLISHED}), context=FROM_FILE
)


def remove_cycles(chain):
    """The chain up to the first visit of each node that it comes back to."""
    joined = []
    for node in chain:
        if node in joined:
            joined = joined[: joined.index(node)]
        joined.append(node)
    return tuple(joined)


def receive(chain, dests, get_neighbor):
    """Figure 4: what is kept in UE, what is sent, and to whom; `dests` are (dest, seq) pairs."""
    chain = remove_cycles((*chain, ME))  # 1, 2
    ue = {"dests": {d for d, _ in dests}, "ackd": set()}  # 3-5
    ds, sent, mine = {}, [], False
    for d, s in dests:  # 12
        if d == ME:
            mine = True  # 14
        else:
            n = get_neighbor(d)  # 15
            if n is None or n in chain:
                sent.append(("unicast", d, ((d, s),)))  # 17-20
            else:
                ds.setdefault(n, []).append((d, s))  # 21
    sent += [("hop", n, tuple(share)) for n, share in ds.items()]  # 24-26
    return chain, ue, sent, mine


class Routes:
    """A unicast protocol with a fixed table, which records what it is to send."""

    def __init__(self, table):
        self.table = table
        self.sent = []

    def next_hop(self, destination):
        return self.table.get(destination)

    def suspects(self, neighbour):
        return False

    def send(self, message, destination):
        self.sent.append((message, destination))


NODES = st.integers(2, 9)
DESTINATIONS = st.dictionaries(st.integers(1, 9), st.integers(0, 5), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(NODES, max_size=3, unique=True),
    DESTINATIONS,
    st.dictionaries(NODES, NODES),
)
def test_a_broker_forwards_as_figure_4_does(between, dests, table):
    chain = (PUBLISHER, *between)
    mesh = Mesh(10, lambda host: RaftCbr(host, AS_PRINTED), [(ME, n) for n in range(10) if n != ME])
    mesh.add_event_type(Coupon)
    router = mesh.routers[ME]
    routes = Routes(table)
    router.xcast = type(router.xcast)(router.host, AS_PRINTED, routes)
    event = Publication(PUBLISHER, 7, Coupon(zone=3), 512)
    addressees = tuple(Addressee(d, s, version_of(0, 1)) for d, s in dests.items())
    mesh.inject(ME, XcastEvent(event, chain, addressees), sender=chain[-1])
    joined, ue, expected, _ = receive(chain, list(dests.items()), table.get)
    sent = [
        ("unicast", to, tuple((a.node, a.before) for a in message.destinations))
        for message, to in routes.sent
    ]
    forwarded = [s for s in mesh.sent if s.node == ME and isinstance(s.message, XcastEvent)]
    sent += [("hop", s.to, tuple((a.node, a.before) for a in s.message.destinations)) for s in forwarded]
    assert sorted(sent) == sorted(expected)
    assert all(s.message.chain == joined for s in forwarded)
    [cached] = [cached for _, cached in router.cache.events.items(mesh.now)]
    assert cached.chain == joined
    assert cached.destinations.keys() == ue["dests"] and cached.acknowledged == ue["ackd"]
    assert router.cache.parent(PUBLISHER, 7) == joined[-2]
