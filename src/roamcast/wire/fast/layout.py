"""Fixed layouts: which fields a `struct` format can read and write, and the checks that remain."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Any, NamedTuple

from roamcast.wire.field import FieldCodec
from roamcast.wire.lists import TupleOf
from roamcast.wire.numbers import Flag, Float, Int, NodeField, PublicationRef

_UNSIGNED = {1: "B", 2: "H", 3: "BH", 4: "I", 5: "BI", 6: "HI", 8: "Q"}
_BITS = {"B": 8, "H": 16, "I": 32, "Q": 64}


class Slot(NamedTuple):
    """One number of a fixed layout, read by one or two codes of a `struct` format."""

    codes: str
    names: tuple[str, ...]
    "Names of the numbers that the codes read."
    value: str
    "Expression of the value in `names`."
    valid: str
    "Condition on `names` after reading, empty if all are valid."
    parts: tuple[str, ...]
    "Expressions of the numbers to write, in the name `{v}` of the value."
    writable: str
    "Condition on `{v}` before writing."


def slot(field: FieldCodec, name: str, constants: dict[str, Any]) -> Slot | None:
    """Return the slot of a field, whose numbers get names that begin with `name`; None if it has none.

    Constants that the conditions need are added to `constants`.
    """
    kind = type(field)
    if kind in (Int, NodeField, PublicationRef):
        assert isinstance(field, Int)
        return _integer(field, name)
    if kind is Flag:
        return Slot("B", (name,), f"{name} == 1", f"{name} <= 1", ("{v}",), "type({v}) is bool")
    if isinstance(field, Float) and kind is Float and not field.unknown:
        constants[f"fits_{name}"] = field.fits
        fits = f"fits_{name}"
        writable = f"type({{v}}) is float and {fits}({{v}})"
        return Slot("f" if field.fixed == 4 else "d", (name,), name, f"{fits}({name})", ("{v}",), writable)
    return None


def _integer(field: Int, name: str) -> Slot | None:
    codes = _UNSIGNED.get(field.fixed or 0)
    if codes is None:
        return None
    highest = (1 << 8 * (field.fixed or 0) - field.signed) - 1
    lowest = -highest - 1 if field.signed else 0
    if field.signed:
        codes = codes[0].lower() + codes[1:]
    writable = f"type({{v}}) is int and {field.least} <= {{v}} <= {field.most}"
    names: tuple[str, ...] = (name,)
    parts: tuple[str, ...] = ("{v}",)
    value = name
    if len(codes) == 2:
        low = _BITS[codes[1]]
        names, value = (f"{name}h", f"{name}l"), f"({name}h << {low} | {name}l)"
        parts = (f"{{v}} >> {low}", f"{{v}} & {(1 << low) - 1}")
    bounded = (field.least, field.most) != (lowest, highest)
    return Slot(
        codes, names, value, f"{field.least} <= {value} <= {field.most}" if bounded else "", parts, writable
    )


def record_slots(field: FieldCodec, constants: dict[str, Any]) -> list[Slot] | None:
    """Return the slots of a named tuple whose fields all have one; None for other fields."""
    if type(field) is not TupleOf:
        return None
    slots = [slot(each, f"r{place}", constants) for place, each in enumerate(field.fields.values())]
    found = [each for each in slots if each is not None]
    return found if len(found) == len(slots) else None


def structure(slots: Iterable[Slot]) -> Struct:
    """Return the `struct` of consecutive slots."""
    return Struct(">" + "".join(each.codes for each in slots))


def conditions(slots: Iterable[Slot]) -> str:
    """Return the condition on the numbers read, `True` if there is none."""
    return " and ".join(each.valid for each in slots if each.valid) or "True"


def names(slots: Iterable[Slot]) -> str:
    """Return the names of the numbers read, as the target of an assignment."""
    return "".join(f"{name}, " for each in slots for name in each.names)
