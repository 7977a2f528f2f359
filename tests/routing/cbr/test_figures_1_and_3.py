"""CBR's next hops and FT-CBR's event handler against twins that are figures 1 and 3 of the paper read out.

The twins have the corrections that docs/protocols/cbr.md and ft-cbr.md list: figure 1 prefers fewer hops and
takes the advertised neighbour where there is no MC entry; in figure 3 line 15 and lines 45 to 52 stand
outside the blocks into which they are indented.
"""

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.covering import RelationCache
from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.cbr.adverts import AdvertRoute, AdvertRoutes
from roamcast.routing.cbr.ft import FtCbr
from roamcast.routing.cbr.messages import EventAck, MostCovering, Subscription, TreeEvent
from roamcast.routing.cbr.most_covering import MostCoveringTable
from roamcast.routing.cbr.next_hops import NextHops
from roamcast.routing.cbr.parameters import FtCbrParameters
from roamcast.routing.router import BROADCAST, Publication
from roamcast.testing import Mesh

Coupon = EventType("coupon", {"zone": Integer(0, 9)})
PATTERNS = [Coupon.zone >= 0, Coupon.zone >= 2, Coupon.zone == 3, (Coupon.zone >= 3) & (Coupon.zone <= 5)]
H = 2


def find_best_neighbors(s_pat, s_sender, mc_table, ads_table):
    """Figure 1: MC entries are (pbr, neigh, pat, count, hops), advertisements (pbr, neigh, pat, hops)."""
    m_able = [m for m in mc_table if m[1] != s_sender and m[2].covers(s_pat)]
    a_able = [a for a in ads_table if a[1] != s_sender and a[2].intersects(s_pat)]
    neighs = set()
    for p in {m[0] for m in m_able} | {a[0] for a in a_able}:
        # Lines 1 and 2; where several are best the figure does not choose: fewer hops, then the lower node.
        m = min((m for m in m_able if m[0] == p), key=lambda m: (-m[3], m[4], m[1]), default=None)
        a = min((a for a in a_able if a[0] == p), key=lambda a: (a[3], a[1]), default=None)
        n = None
        if m is not None:
            n = m[1]
            if a is not None and m[4] > a[3] + H:
                n = a[1]
            if a is None:
                n = None  # without an advertisement a detour has no bound
        elif a is not None:
            n = a[1]
        if n is not None:
            neighs.add(n)
    return neighs


PUBLISHERS = st.integers(10, 12)
NEIGHBOURS = st.integers(1, 4)
PLACES = st.sampled_from(range(len(PATTERNS)))
HOPS = st.integers(0, 6)


@settings(max_examples=400, deadline=None)
@given(
    st.dictionaries(
        st.tuples(PUBLISHERS, NEIGHBOURS, PLACES), st.tuples(st.integers(1, 4), HOPS), max_size=8
    ),
    st.dictionaries(st.tuples(PUBLISHERS, NEIGHBOURS, PLACES), HOPS, max_size=8),
    PLACES,
    st.integers(0, 4),
)
def test_next_hops_are_those_of_figure_1(mc, ads, wanted, sender):
    relations = RelationCache()
    table = MostCoveringTable(15.0, 100, 64, relations)
    for (pbr, neigh, place), (count, hops) in mc.items():
        table.hear(MostCovering(pbr, PATTERNS[place], count, hops), neigh, 0.0)
    received = {}
    for (pbr, neigh, place), hops in ads.items():
        received.setdefault((pbr, place), []).append(AdvertRoute(0, hops, neigh))
    routes = [
        AdvertRoutes(pbr, PATTERNS[place], 0, 0, sorted(routes)) for (pbr, place), routes in received.items()
    ]
    pattern = PATTERNS[wanted]
    found = NextHops(
        routes, relations, lambda publisher, wide, child: table.best(publisher, wide, {child}, 0.0), H
    ).neighbours(pattern, sender)
    assert found == find_best_neighbors(
        pattern,
        sender,
        [(pbr, neigh, PATTERNS[place], *rest) for (pbr, neigh, place), rest in mc.items()],
        [(pbr, neigh, PATTERNS[place], hops) for (pbr, neigh, place), hops in ads.items()],
    )


ME = 0


class Figure3:
    """The handler of figure 3, its variables and lines; gives what a node does with a copy."""

    def __init__(self, matching_children):
        self.flood_table = {}
        self.matching_children = frozenset(matching_children)

    def receive(self, e, sender, cids, fhops):
        done = []
        was_for_me = ME in cids  # 1
        was_flooded = fhops > 0  # 2
        keep_flooding = fhops > 1  # 3
        seen = seen_flooded = seen_for_me = False  # 5-7
        fe = self.flood_table.get(e)  # 10
        if fe is not None:
            seen = True
            if ME in fe["cids"]:
                seen_for_me = True
            fe["cids"] |= cids  # 15, outside of 14
            if fe["fhops"] > 0:
                seen_flooded = True
            else:
                fe["fhops"] = fhops  # 18
        do_ack = not was_flooded and was_for_me  # 27; line 4, from myself, does not come over the air
        if do_ack:
            done.append(("ack", sender))
        do_fwd = not seen_for_me and was_for_me  # 34
        if do_fwd:
            forward = set(self.matching_children)
            if ME in forward:
                done.append(("notify",))
                forward.discard(ME)
            if forward:
                done.append(("broadcast", frozenset(forward), 0))
        do_flood = keep_flooding and not seen_flooded  # 46
        if do_flood and cids - {ME}:
            done.append(("broadcast", cids - {ME}, fhops - 1))
        if not seen and (do_ack or do_fwd or do_flood):  # 55
            self.flood_table[e] = {"cids": set(cids), "fhops": fhops}
        return done


COPIES = st.lists(
    st.tuples(
        st.integers(1, 2),
        st.integers(1, 3),
        st.frozensets(st.integers(0, 4), min_size=1),
        st.integers(0, 2),
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(st.frozensets(st.integers(0, 4)), COPIES)
def test_events_are_handled_as_figure_3_handles_them(matching, copies):
    parameters = FtCbrParameters(
        advert_serials=False, avoid_rings=False, send_back=True, remember_handled=False, jitter=0.0
    )
    mesh = Mesh(5, partial(FtCbr, parameters=parameters), [(0, n) for n in range(1, 5)])
    mesh.add_event_type(Coupon)
    wanted = Coupon.zone == 3
    for child in matching - {ME}:
        mesh.inject(ME, Subscription(wanted), sender=child)
    if ME in matching:
        mesh.subscribe(ME, wanted)
    twin = Figure3(matching)
    for number, sender, children, flood in copies:
        mesh.sent.clear()
        mesh.deliveries.clear()
        publication = Publication(9, number, Coupon(zone=3), 512)
        mesh.inject(ME, TreeEvent(publication, children, flood), sender=sender)
        mesh.run(for_=0.001)
        done = [("notify",) for d in mesh.deliveries if d.node == ME]
        for sent in (sent for sent in mesh.sent if sent.node == ME):
            if isinstance(sent.message, EventAck):
                done.append(("ack", sent.to))
            elif isinstance(sent.message, TreeEvent):
                assert sent.to == BROADCAST
                done.append(("broadcast", sent.message.children, sent.message.flood))
        assert sorted(done, key=repr) == sorted(twin.receive(number, sender, children, flood), key=repr)
