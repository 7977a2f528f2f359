"""The OFDM standards of 802.11: rate sets, durations, noise, and the ratio at which frames are decoded."""

from __future__ import annotations

from typing import NamedTuple

from roamcast.scenario.radio.settings import BOLTZMANN

_MODULATIONS = {"BPSK": 1, "QPSK": 2, "16-QAM": 4, "64-QAM": 6}
"Coded bits per subcarrier; the kernel numbers modulations in this order."

_CODES = {"1/2": 1 / 2, "2/3": 2 / 3, "3/4": 3 / 4, "5/6": 5 / 6}
"Code rates, in the kernel's order."

_SCHEMES = (
    "BPSK 1/2",
    "BPSK 3/4",
    "QPSK 1/2",
    "QPSK 3/4",
    "16-QAM 1/2",
    "16-QAM 3/4",
    "64-QAM 2/3",
    "64-QAM 3/4",
)
_HT_SCHEMES = (*(scheme for scheme in _SCHEMES if scheme != "BPSK 3/4"), "64-QAM 5/6")


class Mode(NamedTuple):
    """A rate with its modulation and code."""

    rate: float  # b/s
    scheme: str
    bits: int
    "Data bits per symbol."
    preamble: float  # s

    def for_kernel(self) -> tuple[float, int, float, int, int]:
        """Return the mode as the kernel's parameters: rate, bits, preamble, modulation and code by number."""
        modulation, code = self.scheme.split()
        return (
            self.rate,
            self.bits,
            self.preamble,
            list(_MODULATIONS).index(modulation),
            list(_CODES).index(code),
        )

    def success_rate(self, snr: float, size: int) -> float:
        """Return the probability that a frame of `size` bytes is decoded at a signal-to-noise ratio."""
        from roamcast._kernel import success_rate

        *_, modulation, code = self.for_kernel()
        return success_rate(modulation, code, snr, 16 + 8 * size + 6)


class Standard(NamedTuple):
    """An OFDM standard: its timing and its modes."""

    frequency: float  # Hz
    bandwidth: float  # Hz
    symbol: float  # s
    slot: float  # s
    sifs: float  # s
    unicast: dict[float, Mode]
    "Modes of unicast data, by rate."
    basic: dict[float, Mode]
    "Modes of broadcasts, RTS, CTS and ACK, by rate."

    @property
    def difs(self) -> float:
        """SIFS and two slots [s]."""
        return self.sifs + 2 * self.slot

    def noise(self, figure: float) -> float:
        """Return the thermal noise at 290 K over the bandwidth, with a noise figure [dB], in W."""
        return BOLTZMANN * 290 * self.bandwidth * 10 ** (figure / 10)


def _modes(schemes: tuple[str, ...], subcarriers: int, symbol: float, preamble: float) -> dict[float, Mode]:
    modes = {}
    for scheme in schemes:
        modulation, code = scheme.split()
        bits = round(subcarriers * _MODULATIONS[modulation] * _CODES[code])
        rate = float(round(bits / symbol))
        modes[rate] = Mode(rate, scheme, bits, preamble)
    return modes


_LEGACY = _modes(_SCHEMES, 48, 4e-6, 20e-6)
_HALF_CLOCKED = _modes(_SCHEMES, 48, 8e-6, 40e-6)

STANDARDS = {
    "802.11g": Standard(2.437e9, 20e6, 4e-6, 9e-6, 16e-6, _LEGACY, _LEGACY),
    "802.11n": Standard(5.18e9, 20e6, 4e-6, 9e-6, 16e-6, _modes(_HT_SCHEMES, 52, 4e-6, 36e-6), _LEGACY),
    "802.11p": Standard(5.9e9, 10e6, 8e-6, 13e-6, 32e-6, _HALF_CLOCKED, _HALF_CLOCKED),
}
"""By name. 802.11g without 802.11b stations: short slots; SIFS is 10 us and 6 us of signal extension. 802.11n
has 20 MHz, one spatial stream, the long guard interval and the mixed preamble; its control frames and
broadcasts are those of 802.11a. 802.11p has channels of 10 MHz."""

REFERENCE_SIZE = 512 + 20 + 34
"Size of the broadcast frame whose success defines the range: an event of 512 B with headers."

REFERENCE_SUCCESS = 0.9
"Probability with which that frame is decoded at the range, without interference, shadowing and fading."


def required_snr(mode: Mode) -> float:
    """Return the signal-to-noise ratio at which the reference frame is just decoded."""
    low, high = 1e-3, 1e6
    while high / low > 1 + 1e-9:
        middle = (low * high) ** 0.5
        if mode.success_rate(middle, REFERENCE_SIZE) < REFERENCE_SUCCESS:
            low = middle
        else:
            high = middle
    return high
