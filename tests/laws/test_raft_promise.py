"""RAFT-CBR's promise as a law: every event, once, in publisher order, to everyone it was addressed to.

A history is generated from a seed: a topology, links that lose, double, reorder and hold messages back for
many seconds as a full queue does, interests that change, edges that come and go or nodes that run about,
relays that crash and start anew. Publishers stay alive and in the end the network is whole again. A publisher
owes an event to everyone who wants it when it publishes, however late the subscription comes; but for what it
has no room to keep. Nobody gets what was published before it asked or after it had ceased to want it, but for
what an event's own travel hides, also between two times in which it wants the same.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import dist, inf
from random import Random

import msgspec
import pytest

from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.cbr.raft.messages import XcastEvent
from roamcast.routing.cbr.raft.parameters import RaftCbrParameters, RaftDsdvParameters
from roamcast.routing.cbr.raft.raft import RaftCbr
from roamcast.routing.router import Drop
from roamcast.testing import LinkModel, Mesh

Coupon = EventType("coupon", {"zone": Integer()})
EVERYTHING = Coupon.zone >= 0
INTERESTS = [
    EVERYTHING,
    Coupon.zone < 3,
    Coupon.zone == 2,
    Coupon.zone > 2,
    (Coupon.zone >= 1) & (Coupon.zone <= 3),
]
PATIENCE = 3600.0
"How far back a late subscription reaches, and how long the network may take to finish."
MUCH = 65536
"Events that a publisher keeps: all of a history."
RANGE, SIDE = 250.0, 600.0
"Of a radio, and of the square in which nodes run about, in metres."


class History:
    """One generated history and what it owes to whom."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        nodes = random.randint(3, 8)
        self.edges = {(max(0, node - random.randint(1, 3)), node) for node in range(1, nodes)}
        for _ in range(random.randint(0, nodes)):
            a, b = sorted(random.sample(range(nodes), 2))
            self.edges.add((a, b))
        links = LinkModel(
            jitter=random.choice([0.0, 0.02, 0.5, 15.0]),
            loss=random.choice([0.0, 0.1, 0.4]),
            duplicate=random.choice([0.0, 0.2]),
            tries=random.choice([1, 4]),
        )
        parameters = RaftCbrParameters(
            window=random.choice([1, 3, 16]),
            recall=PATIENCE,
            cache_lease=random.choice([0.5, 10.0]),
            ping_wait=random.choice([2.0, 10.0]),
            cached_events=random.choice([2, 1024]),
            reorder_buffer=random.choice([2, 1024]),
            unacknowledged_events=random.choice([1, 3, 10, MUCH, MUCH, MUCH]),
            dsdv=RaftDsdvParameters(period=5.0, settling=1.0, link_feedback=True),
        )
        self.kept = parameters.unacknowledged_events
        self.mesh = Mesh(nodes, lambda host: RaftCbr(host, parameters), self.edges, links=links, seed=seed)
        roles = random.sample(range(nodes), nodes)
        self.publishers = roles[: random.randint(1, 2)]
        self.subscribers = roles[len(self.publishers) :][: random.randint(1, 3)]
        if random.random() < 0.5:
            self.subscribers.append(self.publishers[-1])
        self.relays = [node for node in roles if node not in self.publishers and node not in self.subscribers]
        self.dead: set[int] = set()
        self.travel = 10.0 + links.jitter * nodes
        "Seconds that an event may be on its way, and look so much younger than it is."
        self.speed = random.choice([0.0, 0.0, 10.0, 30.0])
        self.places = [(random.uniform(0, SIDE), random.uniform(0, SIDE)) for _ in range(nodes)]
        self.goals = list(self.places)
        self.wanted = defaultdict(list)
        self.began = []
        self.periods = defaultdict(list)
        self.owed = defaultdict(set)
        self.hoped = defaultdict(set)
        self.published = {}

    def tell(self, steps: int) -> None:
        """Live through `steps` generated moments."""
        for publisher in self.publishers:
            self.mesh.advertise(publisher, EVERYTHING)
        for _ in self.subscribers:
            self.change_interest()
        self.live(self.random.choice([0.0, 20.0]))
        acts = [self.publish] * 6 + [self.change_interest] * 2 + [self.churn] * 3 + [self.crash]
        for _ in range(steps):
            self.random.choice(acts)()
            self.live(self.random.choice([0.0, 0.01, 0.3, 2.0, 8.0]))

    def live(self, seconds: float) -> None:
        """Let time pass, and nodes run about if this is such a history."""
        if not self.speed:
            self.mesh.run(for_=seconds)
            return
        while seconds > 0:
            step = min(seconds, 1.0)
            self.move(step)
            self.mesh.run(for_=step)
            seconds -= step

    def move(self, seconds: float) -> None:
        """Bring every node nearer to where it is going; who is in range then hears each other."""
        for node, (place, goal) in enumerate(zip(self.places, self.goals, strict=True)):
            way, reach = dist(place, goal), self.speed * seconds
            if way <= reach:
                self.places[node] = goal
                self.goals[node] = (self.random.uniform(0, SIDE), self.random.uniform(0, SIDE))
            else:
                x, y = (a + (b - a) * reach / way for a, b in zip(place, goal, strict=True))
                self.places[node] = (x, y)
        for a, b in combinations(range(len(self.places)), 2):
            near = dist(self.places[a], self.places[b]) <= RANGE
            (self.mesh.join if near else self.mesh.cut)(a, b)

    def publish(self) -> None:
        publisher = self.random.choice(self.publishers)
        for _ in range(self.random.choice([1, 1, 2, 5])):
            self.publish_one(publisher)

    def publish_one(self, publisher: int) -> None:
        event = Coupon(zone=self.random.randrange(5))
        sessions = self.mesh.routers[publisher].publishing.sessions
        known = [
            node
            for node, session in sessions.items()
            if any(filter.matches(event) for filter in session.patterns)
        ]
        publication = self.mesh.publish(publisher, event)
        self.published[publication.id] = (self.mesh.now, event)
        for node in self.subscribers:
            if node != publisher and any(wanted.matches(event) for wanted in self.wanted[node]):
                self.hoped[node, publisher].add(publication.id)
                if node in known:
                    self.owed[node, publisher].add(publication.id)

    def change_interest(self) -> None:
        node = self.random.choice(self.subscribers)
        if self.wanted[node] and self.random.random() < 0.5:
            wanted = self.wanted[node].pop()
            if (self.mesh.now, node, wanted) in self.began:
                self.owe_nothing_of_an_instant(node, wanted)
            last = max(n for n, period in enumerate(self.periods[node]) if period[0] is wanted)
            self.periods[node][last] = (*self.periods[node][last][:2], self.mesh.now)
            self.mesh.unsubscribe(node, wanted)
        else:
            wanted = self.random.choice(INTERESTS)
            self.wanted[node].append(wanted)
            self.began.append((self.mesh.now, node, wanted))
            self.periods[node].append((wanted, self.mesh.now, inf))
            self.mesh.subscribe(node, wanted)

    def owe_nothing_of_an_instant(self, node: int, wanted: Filter) -> None:
        """Who asks and takes it back at the same time tells nobody anything."""
        for id, (at, event) in self.published.items():
            still = any(other.matches(event) for other in self.wanted[node])
            if at == self.mesh.now and wanted.matches(event) and not still:
                self.hoped[node, id >> 32].discard(id)
                self.owed[node, id >> 32].discard(id)

    def churn(self) -> None:
        a, b = self.random.choice(sorted(self.edges))
        (self.mesh.cut if self.random.random() < 0.5 else self.mesh.join)(a, b)

    def crash(self) -> None:
        if self.dead and self.random.random() < 0.5:
            self.mesh.revive(self.dead.pop())
        elif self.relays:
            node = self.random.choice(self.relays)
            if node not in self.dead:
                self.mesh.kill(node)
                self.dead.add(node)

    def heal(self) -> None:
        """Make the network whole, its links no worse than a working radio's, and let it finish."""
        links = self.mesh.links
        self.mesh.links = msgspec.structs.replace(
            links, loss=min(links.loss, 0.1), jitter=min(links.jitter, 0.5), tries=4
        )
        for a, b in self.edges:
            self.mesh.join(a, b)
        for node in sorted(self.dead):
            self.mesh.revive(node)
        self.mesh.run(for_=60)  # for adverts and subscriptions that have not got through yet
        waited = 0.0
        while waited < PATIENCE and any(self.mesh.routers[p].publishing.events for p in self.publishers):
            self.mesh.run(for_=10)
            waited += 10
        self.mesh.run(for_=5)

    def given(self):
        """Who got what of whom, in order."""
        given = defaultdict(list)
        for delivery in self.mesh.deliveries:
            given[delivery.node, delivery.publication.publisher].append(delivery.publication.id)
        return given

    def given_up(self) -> set[int]:
        """What publishers have let go because they keep no more.

        What a version of a subscription has retracted is brought back by the next, if it is still kept.
        """
        reasons = {Drop.TABLE_FULL} if self.kept == MUCH else {Drop.TABLE_FULL, Drop.UNWANTED}
        full = (drop for drop in self.mesh.drops if drop.reason in reasons)
        # What merely waited for a route has a destination still, and is retransmitted.
        return {
            drop.message.publication_id
            for drop in full
            if isinstance(drop.message, XcastEvent)
            and not drop.message.destinations
            and drop.message.publication.publisher == drop.node
        }

    def may_get(self, node: int, id: int, at: float) -> bool:
        """Return whether a node that got an event `at` a time wanted it when it was published, give or take
        the event's travel.

        If it was published between two times in which the node wants the same, the second subscription has
        brought it. It cannot look older than by the time since then.
        """
        published, event = self.published[id]
        matching = [(began, ended) for wanted, began, ended in self.periods[node] if wanted.matches(event)]
        later = min((began for began, _ in matching if began > published), default=inf)
        slack = max(self.travel, at - later)
        return any(
            began <= published + self.travel and published <= ended + slack for began, ended in matching
        )


def check(seed: int) -> int:
    history = History(seed)
    history.tell(steps=40)
    history.heal()
    given = history.given()
    given_up = history.given_up()
    times = {(each.node, each.publication.id): each.time for each in history.mesh.deliveries}
    for pair in history.owed.keys() | history.hoped.keys() | given.keys():
        got, owed, hoped = given[pair], history.owed[pair] - given_up, history.hoped[pair]
        assert got == sorted(set(got)), f"history {seed}: once and in order"
        assert owed <= set(got), f"history {seed}: everything addressed"
        if history.kept == MUCH:
            assert hoped <= set(got), f"history {seed}: everything asked for"
        assert all(history.may_get(pair[0], id, times[pair[0], id]) for id in got), f"history {seed}: no more"
    return sum(map(len, history.owed.values()))


@pytest.mark.parametrize("first", range(0, 500, 100))
def test_every_event_once_in_order_to_everyone_it_was_addressed_to(first):
    assert sum(check(seed) for seed in range(first, first + 100)) > 1000


@pytest.mark.parametrize("seed", [733, 753, 856, 857, 858, 1119, 1217, 1726, 9000, 9068, 9850])
def test_histories_that_broke_it_once(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(500, 10_000, 500))
def test_thousands_of_histories_keep_the_promise(first):
    assert sum(check(seed) for seed in range(first, first + 500)) > 5000
