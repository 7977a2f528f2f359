"""Public tools for testing routers: a mesh of routers in virtual time, link rules and faults."""

from roamcast.routing.faults import Fault, FaultKind
from roamcast.testing.links import LinkModel, LinkRule, delay, duplicate, full_queue, lose, one_way, partition
from roamcast.testing.mesh import Mesh

__all__ = [
    "Fault",
    "FaultKind",
    "LinkModel",
    "LinkRule",
    "Mesh",
    "delay",
    "duplicate",
    "full_queue",
    "lose",
    "one_way",
    "partition",
]
