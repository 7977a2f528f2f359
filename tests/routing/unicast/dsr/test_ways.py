"""The laws of DSR: whatever happens, no way meets itself; and a cache equals its slow twin."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.routing.unicast.copies import DsrUnicast
from roamcast.routing.unicast.dsr.messages import (
    DsrError,
    DsrFlowError,
    DsrFlowPacket,
    DsrPacket,
    DsrReply,
    DsrRequest,
)
from roamcast.routing.unicast.dsr.parameters import NS2, DsrParameters
from roamcast.routing.unicast.dsr.path_cache import PathCache

from ..histories import play

PROFILES = {"rfc": DsrParameters(), "ns2": DsrParameters(**NS2), "short": DsrParameters(route_limit=4)}


def look(mesh, dead):
    """Look at everything said since the last look, and at every way that is kept."""
    for sent in mesh.sent[look.seen :]:
        message = sent.message
        ways = []
        if isinstance(message, DsrPacket | DsrReply | DsrError | DsrFlowError):
            ways.append(message.route)
            assert message.route[message.at - 1] == sent.node != sent.to == message.route[message.at]
        if isinstance(message, DsrReply):
            ways.append(message.found)
        if isinstance(message, DsrRequest):
            ways.append(message.so_far)
        for way in ways:
            assert len(set(way)) == len(way), message
    look.seen = len(mesh.sent)
    for node, router in enumerate(mesh.routers):
        for way in router.unicast.cache.paths():
            assert way[0] == node
            assert len(set(way)) == len(way) >= 2


def history(seed, profile):
    look.seen = 0
    return play(lambda host: DsrUnicast(host, PROFILES[profile]), seed, look)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), profile=st.sampled_from(sorted(PROFILES)))
def test_no_way_ever_meets_itself(seed, profile):
    history(seed, profile)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(seed=st.integers(0, 10**9), profile=st.sampled_from(sorted(PROFILES)))
def test_no_way_ever_meets_itself_in_thousands_of_histories(seed, profile):
    history(seed, profile)


def test_histories_of_ns2s_rules_have_flows_and_breaks_of_flows():
    counts = Counter()
    for seed in range(6, 14):  # a flow that somebody has forgotten is rare: one history in thirty
        mesh = history(seed, "ns2")
        counts["follow"] += any(type(sent.message) is DsrFlowPacket for sent in mesh.sent)
        counts["unknown"] += len(mesh.sent_of(DsrFlowError)) > 0
        counts["errors"] += len(mesh.sent_of(DsrError)) > 0
        counts["delivered"] += len(mesh.deliveries) > 10
    assert min(counts.values()) >= 1 and len(counts) == 4, counts


def test_histories_have_long_ways_errors_and_salvaged_packets():
    counts = Counter()
    for seed in range(8):
        mesh = history(seed, "rfc")
        packets = [sent.message for sent in mesh.sent if isinstance(sent.message, DsrPacket)]
        counts["far"] += any(len(packet.route) > 4 for packet in packets)
        counts["salvaged"] += any(packet.salvaged for packet in packets)
        counts["errors"] += len(mesh.sent_of(DsrError)) > 0
        counts["from caches"] += any(
            reply.message.at == 1 and reply.message.found[-1] != reply.node
            for reply in mesh.sent_of(DsrReply)
        )
        counts["delivered"] += len(mesh.deliveries) > 10
    assert min(counts.values()) >= 2 and len(counts) == 5, counts


class SlowCache:
    """What a cache should know, without bounds: all ways that were told and have not been cut."""

    def __init__(self):
        self.ways = set()

    def add(self, way):
        self.ways |= {way[:length] for length in range(2, len(way) + 1)}

    def cut(self, start, end):
        self.ways = {way for way in self.ways if (start, end) not in set(pairwise(way))}

    def distance(self, destination):
        return min((len(way) for way in self.ways if way[-1] == destination), default=None)


WAYS = st.lists(st.integers(1, 6), min_size=1, max_size=5, unique=True).map(lambda rest: (0, *rest))


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), WAYS),
            st.tuples(st.just("notice"), WAYS),
            st.tuples(st.just("use"), st.integers(1, 6)),
            st.tuples(st.just("cut"), st.tuples(st.integers(0, 6), st.integers(0, 6))),
        ),
        max_size=25,
    )
)
def test_with_room_for_all_a_cache_finds_the_shortest_of_what_it_was_told(deeds):
    cache, slow = PathCache(0, 100, 100, 300.0), SlowCache()
    for time, (deed, what) in enumerate(deeds):
        if deed == "cut":
            cache.cut(*what)
            slow.cut(*what)
        elif deed == "use":
            cache.use(what, time)
        else:
            getattr(cache, deed)(what, time)
            slow.add(what)
        for destination in range(1, 7):
            found = cache.find(destination, time)
            assert (None if found is None else len(found)) == slow.distance(destination)
            assert found is None or found in slow.ways


def test_ways_make_room_in_turn_and_overheard_ones_do_not_displace_those_asked_for():
    cache = PathCache(0, 2, 2, 300.0)
    for node in (1, 2, 3):
        cache.add((0, node), 0.0)
    assert cache.primary.paths == [(0, 3), (0, 2)]
    for node in range(10, 20):
        cache.notice((0, node), 0.0)
    assert cache.find(3, 0.0) == (0, 3)
    assert len(cache) == 4


def test_a_way_not_heard_of_again_lapses():
    cache = PathCache(0, 5, 5, 100.0)
    cache.add((0, 1, 2), 0.0)
    cache.notice((0, 3), 90.0)
    assert cache.find(2, 99.0) == (0, 1, 2)
    assert cache.find(2, 120.0) is None
    assert cache.find(3, 120.0) == (0, 3)
