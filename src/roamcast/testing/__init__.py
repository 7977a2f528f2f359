"""Tools for testing routers; public, for third parties too."""

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
