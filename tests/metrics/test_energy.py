"""What a frame costs is what Feeney measured, and the defaults are hers to the last digit."""

import pytest
from pydantic import ValidationError

from roamcast.metrics.constants import EnergyModel, MetricConstants


def test_the_defaults_are_feeneys_measurements():
    assert EnergyModel().model_dump() == {
        "unicast_send_per_byte": 1.9,
        "unicast_send_per_frame": 420.0,
        "unicast_receive_per_byte": 0.42,
        "unicast_receive_per_frame": 330.0,
        "broadcast_send_per_byte": 1.9,
        "broadcast_send_per_frame": 250.0,
        "broadcast_receive_per_byte": 0.50,
        "broadcast_receive_per_frame": 56.0,
        "overhear_per_byte": -0.49,
        "overhear_per_frame": 97.2,
    }
    assert MetricConstants().gamma == 10.0
    assert MetricConstants().energy == EnergyModel()


@pytest.mark.parametrize("gamma", [0.0, -1.0, float("nan"), float("inf")])
def test_an_event_must_weigh_something(gamma):
    with pytest.raises(ValidationError):
        MetricConstants(gamma=gamma)


@pytest.mark.parametrize(
    "name", sorted(EnergyModel.model_fields.keys() - {"overhear_per_byte", "overhear_per_frame"})
)
def test_sending_and_receiving_cost_something(name):
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        EnergyModel(**{name: -0.1})
