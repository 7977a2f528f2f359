"""Creation of route jobs (figure 3): recipients grouped by next hop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from roamcast.routing.router import NodeId
from roamcast.routing.tpsr.messages import Job


def create_jobs(
    recipients: Iterable[NodeId], this_node: NodeId, next_hop: Callable[[NodeId], NodeId | None]
) -> tuple[tuple[Job, ...], list[NodeId]]:
    """Return one job per next hop, with its delay index, and the recipients without a route."""
    route_jobs: dict[NodeId, tuple[int, list[NodeId]]] = {}
    stranded: list[NodeId] = []
    delay_index = 0
    for recipient in recipients:
        if recipient == this_node:
            continue
        addressee = next_hop(recipient)
        if addressee is None:  # not covered by the figure
            stranded.append(recipient)
            continue
        if addressee not in route_jobs:
            route_jobs[addressee] = (delay_index, [])
            delay_index += 1
        route_jobs[addressee][1].append(recipient)
    jobs = tuple(Job(addressee, index, frozenset(those)) for addressee, (index, those) in route_jobs.items())
    return jobs, stranded
