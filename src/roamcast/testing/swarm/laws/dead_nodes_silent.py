"""Law: a node that is not up and awake sends nothing."""

from __future__ import annotations

from roamcast.testing.swarm.record import SwarmRecord


def check(record: SwarmRecord) -> str | None:
    """Check that no node sends that has crashed, sleeps or has not arrived."""
    for sent in record.belated:
        return f"node {sent.node} sent a {type(sent.message).__name__} at {sent.time:.3f} s, after its crash"
    for aired in record.transmissions:
        if not aired.awake:
            return f"node {aired.node} sent a {type(aired.message).__name__} at {aired.time:.3f} s, not awake"
    return None
