"""The radio's options in scenario files: values that follow from others, and messages for what cannot be."""

import pytest

from roamcast.scenario.model import Scenario
from roamcast.scenario.read import ScenarioError, load
from roamcast.scenario.resolved import resolve

TEXT = """
name = "s"
area = { width = "500 m", height = "500 m" }
duration = "60 s"
[nodes.all]
count = 5
[radio]
"""


def read(tmp_path, radio):
    file = tmp_path / "s.toml"
    file.write_text(TEXT + radio)
    return load(file)


SINR = 'reception = { model = "sinr" }\n'


def test_with_sinr_the_power_follows_from_the_range(tmp_path):
    near, far = (read(tmp_path, SINR + f'range = "{r} m"') for r in (300, 600))
    assert far.radio.power == pytest.approx(16 * near.radio.power)  # two-ray ground: d^4
    assert (near.radio.carrier_sense, near.radio.frequency) == (pytest.approx(660), 2.437e9)
    assert [near.mac.slot, near.mac.sifs, near.mac.difs] == pytest.approx([9e-6, 16e-6, 34e-6])
    assert near.mac.cw_min == 15
    assert (near.mac.rate, near.mac.basic_rate) == (6e6, 6e6)


def test_and_the_range_from_the_power(tmp_path):
    given = read(tmp_path, SINR + 'range = "137 m"').radio
    back = read(tmp_path, SINR + f'power = "{given.power!r} W"').radio
    assert back.range == pytest.approx(137, rel=1e-6)
    assert back.carrier_sense == pytest.approx(given.carrier_sense, rel=1e-6)
    faster = read(tmp_path, SINR + f'power = "{given.power!r} W"\n[mac]\nbasic_rate = "54 Mb/s"').radio
    assert faster.range < 60


def test_values_of_the_file_are_kept(tmp_path):
    text = 'reception = { standard = "802.11p" }\nfrequency = "5.8 GHz"\n'
    text += '[mac]\nslot = "20 us"\nrate = "27 Mb/s"'
    found = read(tmp_path, text)
    kept = [found.radio.frequency, found.mac.slot, found.mac.rate, found.mac.sifs]
    assert kept == pytest.approx([5.8e9, 20e-6, 27e6, 32e-6])
    assert found.radio.range == 250 and found.radio.power == 0.28183815  # thresholds: as without a standard


@pytest.mark.parametrize(
    "radio",
    [
        "",
        SINR,
        SINR + 'power = "10 mW"',
        'propagation = "log-distance"\nshadowing = { sigma = "4 dB" }\nfading = { kind = "rayleigh" }',
    ],
)
def test_the_resolved_scenario_is_the_same_scenario(tmp_path, radio):
    scenario = read(tmp_path, radio)
    again = Scenario.model_validate(resolve(scenario))
    assert resolve(again) == resolve(scenario)
    assert again.fingerprint() == scenario.fingerprint()


def test_absent_options_are_not_mentioned(tmp_path):
    assert set(resolve(read(tmp_path, ""))["radio"]) == {
        *("range", "carrier_sense", "capture", "frequency", "power", "antenna_height", "propagation"),
    }


@pytest.mark.parametrize(
    ("radio", "message"),
    [
        (
            SINR + 'power = "10 mW"\nrange = "900 m"',
            "radio.range: range and power disagree: with 0.01 W, a broadcast",
        ),
        (
            SINR + '[mac]\nrate = "2 Mb/s"',
            "mac.rate: 2 Mb/s is not a rate of 802.11g; expected one of 6, 9, 12",
        ),
        (
            'reception = { standard = "802.11n" }\n[mac]\nbasic_rate = "65 Mb/s"',
            "mac.basic_rate: 65 Mb/s is not a rate of 802.11n; expected one of 6, 9",
        ),
        ('fading = { kind = "nakagami" }', 'radio.fading: kind = "nakagami" needs a shape: m = 3'),
        ('fading = { kind = "rayleigh", m = 2.0 }', 'm is only valid for kind = "nakagami"'),
        ("log_distance = { exponent = 2.0 }", 'log_distance is only valid for propagation = "log-distance"'),
        ('shadowing = { sigma = "30 dB" }', "radio.shadowing.sigma: should be less than or equal to 20"),
        (
            'range = "50 km"\ncarrier_sense = "100 km"\nshadowing = { sigma = "9 dB" }',
            "frames could be sensed up to 2,239 km; expected at most 1000 km: reduce",
        ),
        ('reception = { standard = "802.11b" }', "radio.reception.standard"),
    ],
)
def test_what_cannot_be_is_said(tmp_path, radio, message):
    with pytest.raises(ScenarioError) as raised:
        read(tmp_path, radio)
    assert message in str(raised.value)
