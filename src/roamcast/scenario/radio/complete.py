"""Values of radio and MAC that follow from the standard: timing, rates, and power or range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roamcast.scenario.radio.ofdm import STANDARDS, required_snr
from roamcast.scenario.radio.settings import FARTHEST, kernel_radio

if TYPE_CHECKING:
    from roamcast.scenario.model import Mac
    from roamcast.scenario.radio.settings import Lora, Radio

_SENSE_RATIO = 550 / 250
"Carrier-sense range relative to the range, if it is not given: that of the defaults."

_LORA_SENSE_RATIO = 2**0.5
"The same of a LoRa radio: over two-ray ground, the capture threshold of 6 dB below the sensitivity."

LORA_PAYLOAD = 255
"Maximum payload of a LoRa frame [B]."

LORA_HEADER = 8
"Size of the link's header in the payload [B]; the kernel adds it."

_AGREE = 1e-3
"Relative difference up to which a given range and power agree."


def complete_mac(mac: Mac, radio: Radio) -> Mac:
    """Return the MAC with the values of the radio's standard where the scenario gives none."""
    if radio.lora is not None:
        values: dict[str, Any] = {"network_header": 0, "max_message": LORA_PAYLOAD - LORA_HEADER}
        absent = {key: value for key, value in values.items() if key not in mac.model_fields_set}
        return mac.model_copy(update=absent) if absent else mac
    if radio.standard is None:
        return mac
    standard = STANDARDS[radio.standard]
    values = {
        "slot": standard.slot,
        "sifs": standard.sifs,
        "difs": standard.difs,
        "cw_min": 15,
        "rate": min(standard.unicast),
        "basic_rate": min(standard.basic),
    }
    absent = {key: value for key, value in values.items() if key not in mac.model_fields_set}
    return mac.model_copy(update=absent) if absent else mac


def complete_radio(radio: Radio, mac: Mac) -> Radio:
    """Return the radio with frequency, and with SINR reception also power, range and carrier-sense range.

    Of power and range one follows from the other: at the range, the reference frame is just decoded. Raise
    `ValueError` if both are given and disagree.
    """
    if radio.lora is not None:
        return _complete_lora(radio, radio.lora)
    if radio.standard is None:
        return radio
    standard, given = STANDARDS[radio.standard], radio.model_fields_set
    values: dict[str, Any] = {}
    if "frequency" not in given:
        values["frequency"] = standard.frequency
    if radio.sinr is not None and mac.basic_rate in standard.basic:
        snr = max(required_snr(standard.basic[mac.basic_rate]), 10 ** (radio.sinr.preamble / 10))
        needed = snr * standard.noise(radio.sinr.noise_figure)
        whole = radio.model_copy(update=values)
        if "power" not in given:
            values["power"] = needed / _mean_gain(whole, radio.range)
        else:
            reached = _distance(whole, needed / radio.power)
            if "range" in given and abs(reached / radio.range - 1) > _AGREE:
                raise ValueError(
                    f"range and power disagree: with {radio.power:g} W, a broadcast is decoded up to "
                    f"{reached:,.1f} m; remove one of them"
                )
            if "range" not in given:
                values["range"] = reached
        if "carrier_sense" not in given:
            values["carrier_sense"] = min(FARTHEST, _SENSE_RATIO * values.get("range", radio.range))
    whole = radio.model_copy(update=values) if values else radio
    whole.check_ranges()
    return whole


def _complete_lora(radio: Radio, lora: Lora) -> Radio:
    """Return a LoRa radio: 14 dBm at 868 MHz, with the range of its sensitivity, unless given."""
    given = radio.model_fields_set
    defaults: dict[str, Any] = {"frequency": 868e6, "power": 0.025, "capture": 6.0}
    values = {key: value for key, value in defaults.items() if key not in given}
    whole = radio.model_copy(update=values)
    if "range" not in given:
        values["range"] = _distance(whole, lora.sensitivity / whole.power)
    if "carrier_sense" not in given:
        values["carrier_sense"] = min(FARTHEST, _LORA_SENSE_RATIO * values.get("range", radio.range))
    whole = radio.model_copy(update=values)
    whole.check_ranges()
    return whole


def _mean_gain(radio: Radio, distance: float) -> float:
    """Return the mean gain at a distance [m]; at most 1."""
    from roamcast._kernel import mean_power

    return mean_power(kernel_radio(radio) | {"power": 1.0}, distance)


def _distance(radio: Radio, gain: float) -> float:
    """Return the distance at which the mean gain falls to `gain` [m], or `FARTHEST`."""
    low, high = 0.0, FARTHEST
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if _mean_gain(radio, middle) >= gain:
            low = middle
        else:
            high = middle
    return low if low > 0 else high
