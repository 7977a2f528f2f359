"""Generate the history of a seed; all random choices of a history are made here."""

from __future__ import annotations

from random import Random

from roamcast.routing import catalogue
from roamcast.routing.router import Message, NodeId, Role, Router
from roamcast.testing.host import Clock
from roamcast.testing.links import LinkModel
from roamcast.testing.swarm.fault_plan import FaultPlan
from roamcast.testing.swarm.history import (
    ZONES,
    AdvertiseStep,
    History,
    LinkRuleStep,
    PublishStep,
    RequestStep,
    Step,
    SubscribeStep,
    UnsubscribeStep,
    Zones,
)
from roamcast.testing.swarm.settings import draw_parameters
from roamcast.testing.swarm.topology import draw_topology

SHORTEST, LONGEST = 20.0, 90.0
"Bounds of the time at which the faults end [s]."


def draw(seed: int, protocol: str, router: type[Router] | None = None) -> History:
    """Return the history of a seed for a protocol; `router` is needed if the catalogue lacks the protocol."""
    router = router or catalogue.find(protocol)
    random = Random(f"{seed}/{protocol}/swarm")
    parameters, cramped = draw_parameters(random, router.parameters_type)
    end = round(random.uniform(SHORTEST, LONGEST), 1)
    ground = draw_topology(random, end, located=router.needs_location)
    steps = [
        *ground.steps,
        *_draw_work(random, ground.nodes, end),
        *FaultPlan(random, router, ground.nodes, end).draw(),
    ]
    return History(
        seed=seed,
        protocol=protocol,
        parameters=parameters,
        cramped=cramped,
        as_bytes=random.random() < 0.8,
        nodes=ground.nodes,
        edges=ground.edges,
        healed=ground.healed,
        links=_draw_links(random),
        clocks=_draw_clocks(random, ground.nodes),
        end=end,
        steps=tuple(sorted(steps, key=lambda step: step.at)),
        later=_draw_later(random, router),
    )


def _draw_links(random: Random) -> LinkModel:
    if random.random() < 0.6:
        return LinkModel()
    return LinkModel(
        jitter=random.choice((0.0, 0.02, 0.5)),
        loss=random.choice((0.0, 0.1, 0.3)),
        duplicate=random.choice((0.0, 0.2)),
        tries=random.choice((1, 4)),
    )


def _draw_clocks(random: Random, nodes: int) -> tuple[Clock, ...]:
    """Return exact clocks in most histories; else clocks with offsets and up to 1 % rate error."""
    if random.random() < 0.7:
        return ()
    begins = (0.0, 1.5, 3600.0)
    return tuple(
        Clock(random.choice(begins), 1 + random.choice((-0.01, -1e-4, 0.0, 1e-4, 0.01))) for _ in range(nodes)
    )


def _draw_later(random: Random, router: type[Router]) -> tuple[LinkRuleStep, ...]:
    """Return mild faults: duplicates, small delays, and losses of events."""
    if random.random() < 0.5:
        return ()
    events = tuple(sorted(each.number for each in router.messages if _may_carry(each)))
    seconds = random.choice((0.01, 1.0, 20.0))
    mild = [
        LinkRuleStep(at=0.0, until=60.0, rule="duplicate", share=random.choice((0.2, 1.0)), seconds=seconds),
        LinkRuleStep(at=0.0, until=60.0, rule="delay", share=random.choice((0.2, 1.0)), seconds=0.02),
        LinkRuleStep(at=0.0, until=60.0, rule="lose", kinds=events, share=random.choice((0.1, 0.3))),
    ]
    return tuple(random.sample(mild if events else mild[:2], random.randint(1, 2)))


def _may_carry(message: type[Message]) -> bool:
    return message.envelope is None and message.role is Role.EVENT


def _draw_work(random: Random, nodes: int, end: float) -> list[Step]:
    """Return the steps of applications: advertisements, subscriptions, requests and advertised events."""
    steps: list[Step] = []
    for node in random.sample(range(nodes), random.randint(1, min(nodes, random.choice((2, 2, 4))))):
        advertised: Zones = random.choice(((0, ZONES - 1), (0, ZONES - 1), (1, 3)))
        began = round(random.uniform(0, 5), 3)
        steps.append(AdvertiseStep(at=began, node=node, zones=advertised))
        steps += _draw_publications(random, node, advertised, began, end)
    for node in random.sample(range(nodes), random.randint(1, min(nodes, 4))):
        for _ in range(random.choice((1, 1, 2))):
            at = round(random.choice((random.uniform(0, 10), random.uniform(0, end))), 3)
            steps.append(SubscribeStep(at=at, node=node, zones=_draw_zones(random)))
    if random.random() < 0.4:
        for subscription in [step for step in steps if isinstance(step, SubscribeStep)][:2]:
            at = round(random.uniform(subscription.at, end), 3)
            steps.append(UnsubscribeStep(at=at, node=subscription.node, zones=subscription.zones))
            if random.random() < 0.5:
                again = round(random.uniform(at, end), 3)
                steps.append(SubscribeStep(at=again, node=subscription.node, zones=subscription.zones))
    if random.random() < 0.4:
        for _ in range(random.randint(1, 3)):
            node, at = random.randrange(nodes), round(random.uniform(0, end), 3)
            steps.append(RequestStep(at=at, node=node, zones=_draw_zones(random)))
    return steps


def _draw_publications(random: Random, node: NodeId, zones: Zones, began: float, end: float) -> list[Step]:
    steps: list[Step] = []
    for _ in range(random.randint(1, 8)):
        at = round(random.uniform(began, end), 3)
        for copy in range(random.choice((1, 1, 1, 4))):
            zone, size = random.randint(*zones), random.choice((64, 512, 1400))
            steps.append(
                PublishStep(
                    at=min(at + copy * random.choice((0.0, 0.01)), end), node=node, zone=zone, size=size
                )
            )
    return steps


def _draw_zones(random: Random) -> Zones:
    first = random.randrange(ZONES)
    return random.choice(((0, ZONES - 1), (first, first), (first, ZONES - 1)))
