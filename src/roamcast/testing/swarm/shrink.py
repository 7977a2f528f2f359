"""Shrink a history while it still breaks the same law."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
from pydantic import ValidationError

from roamcast.routing import catalogue
from roamcast.routing.router import NodeId, Router
from roamcast.testing.links import LinkModel
from roamcast.testing.swarm.history import History, Step
from roamcast.testing.swarm.judge import LawViolation, judge_all
from roamcast.testing.swarm.recording_mesh import TimeUpError

NODE_FIELDS = ("node", "a", "b", "to", "sender")
"The fields of steps that hold a node."


def shrink(
    finding: LawViolation, router: type[Router] | None = None, *, seconds: float = 30.0
) -> LawViolation:
    """Remove steps, nodes and settings greedily, until nothing can be removed or after `seconds` [s]."""
    deadline = time.monotonic() + seconds
    best = finding
    smaller = True
    while smaller:
        smaller = False
        for simplify in (_simpler, _fewer_steps, _fewer_nodes):
            best, found = _descend(best, simplify, router, deadline)
            smaller = smaller or found
        if time.monotonic() > deadline:
            break
    return best


def _descend(
    best: LawViolation,
    simplify: Callable[[History], Iterator[History]],
    router: type[Router] | None,
    deadline: float,
) -> tuple[LawViolation, bool]:
    """Replace the history repeatedly by the first simpler one that breaks the same law."""
    found, again = False, True
    while again:
        again = False
        for candidate in simplify(best.history):
            if time.monotonic() > deadline:
                return best, found
            if not _possible(candidate, router):
                continue
            try:
                broken = judge_all(candidate, router, deadline=deadline)
            except TimeUpError:
                return best, found
            if same := [finding for finding in broken if finding.law == best.law]:
                best, found, again = same[0], True, True
                break
    return best, found


def _possible(history: History, router: type[Router] | None) -> bool:
    """Return whether the parameters are valid; removing one may make the others inconsistent."""
    try:
        (router or catalogue.find(history.protocol)).parameters_type.model_validate(history.parameters)
    except ValidationError:
        return False
    return True


def _fewer_steps(history: History) -> Iterator[History]:
    """Yield histories without a half of the steps, a quarter, and so on down to one step."""
    steps = history.steps
    size = len(steps)
    while size:
        for first in range(0, len(steps), size):
            yield msgspec.structs.replace(history, steps=steps[:first] + steps[first + size :])
        size //= 2


def _fewer_nodes(history: History) -> Iterator[History]:
    """Yield histories without one of the nodes; nodes with greater numbers are renumbered."""
    for gone in reversed(range(history.nodes)):
        if history.nodes > 1:
            steps = (_renumbered(step, gone) for step in history.steps)
            yield msgspec.structs.replace(
                history,
                nodes=history.nodes - 1,
                steps=tuple(step for step in steps if step is not None),
                clocks=history.clocks[:gone] + history.clocks[gone + 1 :],
                edges=_without(history.edges, gone),
                healed=_bridged(history.healed, gone),
            )


def _simpler(history: History) -> Iterator[History]:
    """Yield histories with a default instead of a generated setting, or with an earlier end."""
    if history.links != LinkModel():
        yield msgspec.structs.replace(history, links=LinkModel())
    if history.clocks:
        yield msgspec.structs.replace(history, clocks=())
    for place in range(len(history.later)):
        yield msgspec.structs.replace(history, later=history.later[:place] + history.later[place + 1 :])
    if history.as_bytes:
        yield msgspec.structs.replace(history, as_bytes=False)
    for name in history.parameters:
        kept = {key: value for key, value in history.parameters.items() if key != name}
        yield msgspec.structs.replace(history, parameters=kept, cramped=history.cramped and bool(kept))
    if set(history.edges) != set(history.healed):
        yield msgspec.structs.replace(history, edges=history.healed)
    last = max((step.at for step in history.steps), default=0.0)
    if history.end > last + 1.0:
        yield msgspec.structs.replace(history, end=last + 1.0)


def _moved(node: NodeId, gone: NodeId) -> NodeId:
    return node - 1 if node > gone else node


def _renumbered(step: Step, gone: NodeId) -> Step | None:
    changes: dict[str, object] = {}
    for name in NODE_FIELDS:
        node = getattr(step, name, None)
        if node == gone:
            return None
        if node is not None:
            changes[name] = _moved(node, gone)
    for name in ("senders", "receivers"):
        nodes = getattr(step, name, None)
        if nodes is not None:
            changes[name] = tuple(_moved(node, gone) for node in nodes if node != gone)
    return msgspec.structs.replace(step, **changes)


def _without(edges: tuple[tuple[NodeId, NodeId], ...], gone: NodeId) -> tuple[tuple[NodeId, NodeId], ...]:
    return tuple((_moved(a, gone), _moved(b, gone)) for a, b in edges if gone not in (a, b))


def _bridged(edges: tuple[tuple[NodeId, NodeId], ...], gone: NodeId) -> tuple[tuple[NodeId, NodeId], ...]:
    """Return the edges without a node; its neighbours are linked in a row, so the graph stays connected."""
    near = sorted({node for edge in edges if gone in edge for node in edge if node != gone})
    return _without(tuple(dict.fromkeys((*edges, *pairwise(near)))), gone)
