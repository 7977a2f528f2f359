import pytest
from pydantic import ValidationError

from roamcast.routing.cbr.raft.parameters import RaftCbrParameters


def test_the_defaults_of_raft_are_those_of_section_5_3():
    raft = RaftCbrParameters()
    assert (raft.ack_delay, raft.nack_delay, raft.ping_wait, raft.cache_lease) == (0.01, 0.03, 10.0, 10.0)
    assert (raft.dsdv.link_feedback, raft.dsdv.detours) == (False, True)


def test_nobody_is_pinged_before_an_answer_could_come():
    with pytest.raises(ValidationError, match="so that answers arrive in time"):
        RaftCbrParameters(ping_wait=0.02)


def test_every_parameter_of_raft_is_explained():
    assert all(field.description for field in RaftCbrParameters.model_fields.values())
