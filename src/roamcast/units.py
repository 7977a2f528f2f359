"""Quantities with units, as in files: "250 m", "2 Mb/s", "60 s", "512 B".

Code uses plain numbers in SI units. A file must state the unit: its reader validates with the context
`FROM_FILE`, which rejects a bare number.
"""

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from roamcast.errors import UserError

_LENGTH = {"m": 1.0, "km": 1e3, "cm": 1e-2}
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_RATE = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}
_SPEED = {"m/s": 1.0, "km/h": 1 / 3.6}
_BYTES = {"B": 1.0, "kB": 1e3, "KiB": 1024.0, "MB": 1e6, "MiB": 1024.0**2}
_POWER = {"W": 1.0, "mW": 1e-3}
_FREQUENCY = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}
_PER_TIME = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
_DECIBEL = {"dB": 1.0}
_DECIBEL_PER_METER = {"dB/m": 1.0}

FROM_FILE = {"units": "required"}
"The validation context in which a bare number is rejected."

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*")


def parse_quantity(text: str, units: dict[str, float], example: str) -> float:
    """Return `text`, a number with one of `units`, in the base unit; errors show `example`."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        raise UserError(f"{text!r} is not a quantity; write it like {example!r}")
    number, unit = found.groups()
    if unit not in units:
        known = ", ".join(units)
        given = f"unit {unit!r}" if unit else "no unit"
        raise UserError(f"{text!r} has {given}; expected one of {known}, as in {example!r}")
    return float(number) * units[unit]


def parse_finite(
    text: str, what: str = "", most: float = math.inf, error: type[Exception] = UserError
) -> float:
    """Return `text` as a finite number of magnitude `most` at most, or raise `error` about `what`."""
    shown = f"{what} {text[:40]!r}".lstrip()
    try:
        number = float(text)
    except ValueError:
        raise error(f"{shown} is not a number") from None
    if not math.isfinite(number):
        raise error(f"{shown} is not finite")
    if abs(number) > most:
        raise error(f"{shown} is more than the maximum {most:g}")
    return number


def parse_time(text: str) -> float:
    """Return a time such as "60 s" [s]."""
    return parse_quantity(text, _TIME, "60 s")


def parse_length(text: str) -> float:
    """Return a length such as "250 m" [m]."""
    return parse_quantity(text, _LENGTH, "250 m")


def parse_rate(text: str) -> float:
    """Return a bit rate such as "2 Mb/s" [b/s]."""
    return parse_quantity(text, _RATE, "2 Mb/s")


def _reader(units: dict[str, float], example: str, least: float, most: float) -> BeforeValidator:
    """Return a validator of quantities: 0, or a value between `least` and `most` in the base unit."""
    base = next(iter(units))

    def read(value: Any, info: ValidationInfo) -> Any:
        number = value
        if isinstance(value, str):
            try:
                number = parse_quantity(value, units, example)
            except UserError as error:
                raise ValueError(str(error)) from None
        elif isinstance(value, bool) or info.context == FROM_FILE:
            raise ValueError(f"{value!r} has no unit; write it as a string, like {example!r}")
        if isinstance(number, int | float) and number and not least <= abs(number) <= most:
            bound = f"more than {most:g}" if abs(number) > most else f"less than {least:g}"
            raise ValueError(f"{value!r} is {bound} {base}")
        return number

    return BeforeValidator(read)


Meters = Annotated[float, _reader(_LENGTH, "250 m", 1e-6, 1e8)]
Seconds = Annotated[float, _reader(_TIME, "60 s", 1e-9, 1e9)]
BitsPerSecond = Annotated[float, _reader(_RATE, "2 Mb/s", 1.0, 1e12)]
MetersPerSecond = Annotated[float, _reader(_SPEED, "1 m/s", 1e-9, 1e6)]
Bytes = Annotated[float, _reader(_BYTES, "512 B", 1e-3, 1e15)]
ByteCount = Annotated[int, _reader(_BYTES, "512 B", 1.0, 1e9)]
Watts = Annotated[float, _reader(_POWER, "0.28 W", 1e-15, 1e9)]
Hertz = Annotated[float, _reader(_FREQUENCY, "914 MHz", 1.0, 1e15)]
PerSecond = Annotated[float, _reader(_PER_TIME, "0.5 /s", 1e-12, 1e9)]
Decibels = Annotated[float, _reader(_DECIBEL, "10 dB", 1e-9, 1e3)]
DecibelsPerMeter = Annotated[float, _reader(_DECIBEL_PER_METER, "0.4 dB/m", 1e-9, 1e3)]
