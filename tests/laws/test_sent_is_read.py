"""Every message that a router sends is the message that is read from its bytes."""

import pytest

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing import catalogue
from roamcast.routing.reference import own_protocols
from roamcast.testing import Mesh
from roamcast.wire.codec import MessageCodec, encode

Note = EventType("note", {"zone": Integer()})
PREDICTING = {"odmrp", "pubsub-odmrp"}


@pytest.mark.parametrize("protocol", own_protocols())
def test_a_message_sent_is_the_message_read(protocol):
    router = catalogue.find(protocol)
    changed = {"prediction": True} if protocol in PREDICTING else {}
    mesh = Mesh.grid(3, 2, lambda host: router(host, router.parameters_type(**changed)))
    for node in range(6):
        # No coordinate is a short binary fraction: single precision does not hold it.
        mesh.place(node, 70.1 * (node % 3), 70.1 * (node // 3), vx=0.1, vy=-0.3)
    mesh.advertise(0, Note.zone >= 0)
    for node in (2, 5):
        mesh.subscribe(node, Note.zone < 4)
    for zone in range(4):
        mesh.run(for_=30)
        mesh.publish(0, Note(zone=zone))
    mesh.run(for_=30)
    words = MessageCodec(router.messages, {Note.name: Note})
    assert mesh.delivered
    for sent in mesh.sent:
        assert words.decode(encode(sent.message)) == sent.message
