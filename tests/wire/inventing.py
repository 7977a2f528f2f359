"""What invented messages are made from in tests: a little world of nodes, filters and publications."""

from random import Random

from roamcast.content.field_type import Decimal, Integer, String
from roamcast.content.schema import EventType
from roamcast.routing import catalogue
from roamcast.routing.reference import own_protocols
from roamcast.wire.fields import GenerationContext
from roamcast.wire.publication import Publication

Coupon = EventType("coupon", {"zone": Integer()})
Alert = EventType("alert", {"level": Integer(0, 9), "place/name": String(), "price": Decimal()})
TYPES = {type.name: type for type in (Coupon, Alert)}
PATTERNS = (
    Coupon.zone >= 0,
    Coupon.zone == 3,
    (Coupon.zone == 1) | (Coupon.zone > 7),
    (Alert.level > 3) & (Alert["place/name"] == "Wien"),
)
PUBLICATIONS = (
    Publication(0, 1, Coupon(zone=3)),
    Publication(3, 2**32 - 1, Coupon(zone=-(2**40)), 0),
    Publication(7, 1 << 24 | 5, Alert({"level": 9, "place/name": "Wien", "price": 1.5}), 1500),
)


def messages_of_all_protocols():
    """Every kind of message that some router in the catalogue says."""
    return sorted(
        {message for name in own_protocols() for message in catalogue.find(name).messages},
        key=lambda message: message.number,
    )


def invention(random: Random, messages=()) -> GenerationContext:
    return GenerationContext(
        random, nodes=(0, 1, 2, 3, 7), patterns=PATTERNS, publications=PUBLICATIONS, messages=messages
    )
