"""Generate docs/wire.md: `python -m roamcast.routing.reference > docs/wire.md`."""

from __future__ import annotations

from roamcast.routing import catalogue
from roamcast.wire.message import Message, Role

HEAD = """# Messages on the air

Generated from the declarations by `python -m roamcast.routing.reference`.

Every message begins with one byte, its number. Its fields follow in order, integers in big-endian byte
order, and then zero padding up to the declared size: the size of a publication, or the length that a
standard prescribes. The encoding of each message is unique. The decoder rejects all other bytes before they
reach a router: an unknown number, a value out of bounds, a list that is too long, a filter or an event of an
unknown type, a missing byte, an extra byte.

The simulator counts a message with the length that a live node would send.
"""


_ROLES = {
    Role.EVENT: "event",
    Role.ADVERTISEMENT: "advertisement",
    Role.SUBSCRIPTION: "subscription",
    Role.SUBSCRIPTION_ACK: "acknowledgement of a subscription",
    Role.EVENT_ACK: "acknowledgement of an event",
    Role.REPAIR_REQUEST: "request for a repair",
    Role.ROUTING: "routing",
    Role.BEACON: "beacon",
}
"The roles as the page names them."


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
        traits = "Category, role and publication are those of the enclosed message."
    else:
        category = getattr(message.category, "name", "varies").lower()
        traits = f"Category {category}, role {_ROLES.get(message.role, 'varies')}."
    lines = [
        f"## {message.number}: {message.__name__}",
        "",
        f"{purpose} {traits} Used by {', '.join(protocols)}.",
        "",
        "| field | bytes |",
        "|---|---|",
        *(f"| `{name}` | {field.describe()} |" for name, field in message.fields.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
