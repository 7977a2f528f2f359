import pytest
from pydantic import ValidationError

from roamcast.routing.cbr.parameters import CbrParameters, FtCbrParameters


def test_the_defaults_are_those_of_section_5_3():
    cbr, ft = CbrParameters(), FtCbrParameters()
    assert (cbr.renew, cbr.expire, cbr.detour) == (7.0, 15.0, 2)
    assert (ft.ack_wait, ft.flood_hops, ft.flood_memory) == (0.5, 2, 5.0)
    assert not cbr.covering and not cbr.most_covering


def test_a_lease_must_outlast_two_renewals():
    with pytest.raises(ValidationError, match="must exceed two renewal intervals"):
        CbrParameters(renew=8.0)


def test_a_flood_must_be_remembered_longer_than_an_acknowledgement_is_awaited():
    with pytest.raises(ValidationError, match="must exceed ack_wait"):
        FtCbrParameters(ack_wait=6.0)


def test_every_parameter_is_explained():
    for kind in (CbrParameters, FtCbrParameters):
        assert all(field.description for field in kind.model_fields.values())
