import pytest
from pydantic import ValidationError

from roamcast.routing.cbr.parameters import CbrParameters, FtCbrParameters, RaftCbrParameters
from roamcast.routing.unicast.parameters import DsdvParameters


def test_the_defaults_are_those_of_section_5_3():
    cbr, ft, raft = CbrParameters(), FtCbrParameters(), RaftCbrParameters()
    assert (cbr.renew, cbr.expire, cbr.detour) == (7.0, 15.0, 2)
    assert (ft.ack_wait, ft.flood_hops, ft.flood_memory) == (0.5, 2, 5.0)
    assert (raft.ack_gather, raft.nack_gather, raft.ping_wait, raft.cache_life) == (0.01, 0.03, 10.0, 10.0)
    assert not cbr.covering and not cbr.most_covering
    assert raft.dsdv == DsdvParameters(link_feedback=False)


def test_a_lease_must_outlast_two_renewals():
    with pytest.raises(ValidationError, match="must outlast two renewals"):
        CbrParameters(renew=8.0)


def test_a_flood_must_be_remembered_longer_than_an_acknowledgement_is_awaited():
    with pytest.raises(ValidationError, match="must outlast ack_wait"):
        FtCbrParameters(ack_wait=6.0)


def test_nobody_is_pinged_before_an_answer_could_come():
    with pytest.raises(ValidationError, match="or nobody can answer in time"):
        RaftCbrParameters(ping_wait=0.02)


def test_every_parameter_is_explained():
    for kind in (CbrParameters, FtCbrParameters, RaftCbrParameters):
        assert all(field.description for field in kind.model_fields.values())
