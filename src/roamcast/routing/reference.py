"""The page about the messages of all protocols: `python -m roamcast.routing.reference > docs/wire.md`."""

from __future__ import annotations

from roamcast.routing import catalogue
from roamcast.wire.message import Message

HEAD = """# Messages on the air

Written from the declarations by `python -m roamcast.routing.reference`.

Every message begins with one byte, its kind. Its fields follow in order, numbers with the highest byte
first, and zeros up to the size that a message is padded to: a publication's size, or the length that a
standard fixes. There is one way to write each message. Whatever else comes from the air is refused before a
router hears of it: an unknown kind, a number out of bounds, a list that is too long, a filter or an event of
a type not known here, a missing byte, a byte too many.

What the simulator charges for a message is the length that a live node would send.
"""


def own_protocols() -> list[str]:
    """Return the names of the protocols that Roamcast itself declares."""
    return [name for name, entry in catalogue.installed().items() if entry.module.startswith("roamcast.")]


def page() -> str:
    """Return the page about the messages of Roamcast's own protocols."""
    speakers: dict[type[Message], list[str]] = {}
    for protocol in own_protocols():
        for message in catalogue.find(protocol).messages:
            speakers.setdefault(message, []).append(protocol)
    ordered = sorted(speakers, key=lambda message: message.number)
    return "\n".join([HEAD, *(_section(message, speakers[message]) for message in ordered)])


def _section(message: type[Message], protocols: list[str]) -> str:
    purpose = (message.__doc__ or "").strip().splitlines()[0]
    if message.envelope is not None:
        said = "Category, role and publication are those of the message in it."
    else:
        category = getattr(message.category, "name", "varies").lower()
        said = f"Category {category}; it {getattr(message.role, 'value', 'varies')}."
    lines = [
        f"## {message.number}: {message.__name__}",
        "",
        f"{purpose} {said} Spoken by {', '.join(protocols)}.",
        "",
        "| field | bytes |",
        "|---|---|",
        *(f"| `{name}` | {field.describe()} |" for name, field in message.fields.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
