"""Generate the faults of a history; each history has a random subset of the kinds of faults.

A fault may mask another: a network that loses all messages reorders none. With all kinds in every history,
the masked ones would never have an effect.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from roamcast.routing.faults import OUTAGES, FaultKind
from roamcast.routing.router import NodeId, Publication, Router
from roamcast.testing.messages import hostile_messages
from roamcast.testing.swarm.history import (
    ZONES,
    FaultStep,
    ForgeStep,
    LinkRuleStep,
    Note,
    Replay,
    Step,
    pattern,
)
from roamcast.wire.codec import encode
from roamcast.wire.errors import WireError

KEPT = 0.35
"Probability that a history has a given kind of fault."
PEACEFUL = 0.08
"Share of the histories without faults."


class FaultPlan:
    """Generates the faults until `end` [s]."""

    def __init__(self, random: Random, router: type[Router], nodes: int, end: float) -> None:
        self._random = random
        self._router = router
        self._nodes = nodes
        self._end = end

    def draw(self) -> list[Step]:
        """Return the faults of a random subset of the kinds."""
        kinds: list[Callable[[], list[Step]]] = [
            self._loss,
            self._one_way,
            self._duplicates,
            self._reordering,
            self._full_queue,
            self._partition,
            lambda: self._outages(FaultKind.CRASH),
            lambda: self._outages(FaultKind.SLEEP),
            lambda: self._outages(FaultKind.RADIO_OFF),
            self._late,
            self._forgeries,
            self._replays,
            self._unequal_ranges,
        ]
        if self._random.random() < PEACEFUL:
            return []
        chosen = [kind for kind in kinds if self._random.random() < KEPT]
        return [step for kind in chosen for step in kind()]

    def _span(self) -> tuple[float, float]:
        begin, end = sorted(self._random.uniform(0, self._end) for _ in range(2))
        return round(begin, 3), round(end, 3)

    def _some(self) -> tuple[NodeId, ...] | None:
        if self._random.random() < 0.5:
            return None
        return tuple(sorted(self._random.sample(range(self._nodes), self._random.randint(1, 2))))

    def _kinds(self) -> tuple[int, ...]:
        spoken = self._router.messages
        if not spoken or self._random.random() < 0.5:
            return ()
        return tuple(sorted({self._random.choice(spoken).number for _ in range(2)}))

    def _times(self, most: int) -> range:
        return range(self._random.randint(1, most))

    def _loss(self) -> list[Step]:
        steps: list[Step] = []
        for _ in self._times(3):
            at, until = self._span()
            share = self._random.choice((0.1, 0.4, 0.8, 1.0))
            steps.append(
                LinkRuleStep(
                    at=at,
                    until=until,
                    rule="lose",
                    kinds=self._kinds(),
                    senders=self._some(),
                    receivers=self._some(),
                    share=share,
                )
            )
        return steps

    def _one_way(self) -> list[Step]:
        a, b = self._random.sample(range(self._nodes), 2)
        at, until = self._span()
        return [LinkRuleStep(at=at, until=until, rule="lose", senders=(a,), receivers=(b,))]

    def _duplicates(self) -> list[Step]:
        at, until = self._span()
        share, seconds = self._random.choice((0.2, 1.0)), self._random.choice((0.01, 1.0, 20.0))
        return [
            LinkRuleStep(
                at=at, until=until, rule="duplicate", kinds=self._kinds(), share=share, seconds=seconds
            )
        ]

    def _reordering(self) -> list[Step]:
        at, until = self._span()
        share, seconds = self._random.choice((0.2, 1.0)), self._random.choice((0.05, 1.0, 10.0))
        return [
            LinkRuleStep(at=at, until=until, rule="delay", kinds=self._kinds(), share=share, seconds=seconds)
        ]

    def _full_queue(self) -> list[Step]:
        at, until = self._span()
        share = self._random.choice((0.3, 1.0))
        return [LinkRuleStep(at=at, until=until, rule="full_queue", senders=self._some(), share=share)]

    def _partition(self) -> list[Step]:
        at, until = self._span()
        side = tuple(
            sorted(self._random.sample(range(self._nodes), self._random.randint(1, self._nodes - 1)))
        )
        return [LinkRuleStep(at=at, until=until, rule="partition", senders=side)]

    def _outages(self, begins: FaultKind) -> list[Step]:
        steps: list[Step] = []
        for node in self._random.sample(range(self._nodes), self._random.randint(1, 2)):
            for _ in self._times(2):
                at, until = self._span()
                steps.append(FaultStep(at=at, node=node, kind=begins))
                if self._random.random() < 0.8:
                    steps.append(FaultStep(at=until, node=node, kind=OUTAGES[begins]))
        return steps

    def _late(self) -> list[Step]:
        node = self._random.randrange(self._nodes)
        return [FaultStep(at=self._span()[0], node=node, kind=FaultKind.ARRIVE)]

    def _replays(self) -> list[Step]:
        """Return replays of frames that were sent before, each with one number changed."""
        return [
            Replay(
                at=round(self._random.uniform(0, self._end), 3),
                to=self._random.randrange(self._nodes),
                choice=self._random.getrandbits(32),
            )
            for _ in range(self._random.choice((1, 5, 20)) if self._router.messages else 0)
        ]

    def _unequal_ranges(self) -> list[Step]:
        """Return nodes with a weak radio: some nodes, whose messages they receive, never receive theirs."""
        steps: list[Step] = []
        for weak in self._random.sample(range(self._nodes), self._random.randint(1, 2)):
            others = [node for node in range(self._nodes) if node != weak]
            deaf = tuple(sorted(self._random.sample(others, self._random.randint(1, len(others)))))
            steps.append(LinkRuleStep(at=0.0, until=self._end, rule="lose", senders=(weak,), receivers=deaf))
        return steps

    def _forgeries(self) -> list[Step]:
        """Return forged messages of the kinds that the router receives, plausible or at their bounds."""
        spans = [(0, ZONES - 1), *((zone, zone) for zone in range(-1, ZONES))]
        claimed = [
            Publication(publisher, sequence, Note(zone=sequence % ZONES))
            for publisher in range(self._nodes + 1)
            for sequence in (1, 2, 3, 40)
        ]
        messages = hostile_messages(
            self._router,
            self._random,
            nodes=range(self._nodes + 1),
            patterns=[pattern(zones) for zones in spans],
            publications=claimed,
        )
        steps: list[Step] = []
        for _ in range(self._random.choice((1, 5, 20)) if self._router.messages else 0):
            message = next(messages)
            try:
                data = encode(message)
            except WireError:
                continue
            steps.append(
                ForgeStep(
                    at=round(self._random.uniform(0, self._end), 3),
                    to=self._random.randrange(self._nodes),
                    sender=self._random.randrange(self._nodes + 1),
                    data=data.hex(),
                    about=message.publication_id,
                )
            )
        return steps
