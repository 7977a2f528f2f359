"""Tools for testing routers; public, for third parties too."""

from roamcast.routing.faults import Fault, What
from roamcast.testing.links import LinkModel, Rule, delay, duplicate, full_queue, lose, one_way, partition
from roamcast.testing.mesh import Mesh

__all__ = [
    "Fault",
    "LinkModel",
    "Mesh",
    "Rule",
    "What",
    "delay",
    "duplicate",
    "full_queue",
    "lose",
    "one_way",
    "partition",
]
