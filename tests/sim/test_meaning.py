"""What the facts tell of a message is declared by it, not guessed from its class or its fields' names."""

from pathlib import Path

import roamcast
from roamcast.routing.router import Category, Message, Publication, Role, Router
from roamcast.routing.state.seen import Seen
from roamcast.wire.fields import Hops, Node, PublicationId

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


class Told(Message, number=200, category=Category.EVENT, role=Role.EVENT, dedup_field="publication_id"):
    publication: Publication
    hops: Hops = 0


class Reply(Message, number=201, category=Category.CONTROL, role=Role.EVENT_ACK):
    id: PublicationId


class Letter(Message, number=202):
    to: Node
    inside: Message


class Mixed(Message, number=203, role=Role.EVENT):
    hops: Hops

    @property
    def category(self):
        return Category.SUBSCRIPTION if self.hops else Category.ROUTING


class Chatter(Router):
    """Repeats nothing; a node that receives an event for the first time answers in three ways."""

    messages = (Told, Reply, Letter, Mixed)
    heard: list

    def __init__(self, host, parameters=None):
        super().__init__(host, parameters)
        self.handled = self.seen = Seen(1000)

    def publish(self, publication):
        self.seen.add(publication.id)
        self.host.broadcast(Told(publication))

    def receive(self, message, sender, signal):
        self.heard.append((self.host.node, message))
        if type(message) is Told and self.seen.add(message.publication.id):
            self.host.call_later(0.2 * self.host.random.random(), self.answer, message, sender)

    def answer(self, message, sender):
        self.host.send(Reply(message.publication_id), sender)
        self.host.send(Letter(sender, message), sender)
        self.host.broadcast(Mixed(self.host.node % 2))


def play(monkeypatch):
    heard = []
    monkeypatch.setattr("roamcast.routing.flooding.Flooding", type("Flooding", (Chatter,), {"heard": heard}))
    return roamcast.run(SQUARE, "flooding", 11).facts, heard


def test_a_reply_that_shares_an_events_id_is_no_duplicate_of_it(monkeypatch):
    facts, heard = play(monkeypatch)
    published = set(facts["publications"]["publication"].to_pylist())
    replies = [message for _, message in heard if type(message) is Reply]
    assert replies
    assert {reply.id for reply in replies} <= published


def test_an_envelope_counts_as_what_it_holds_and_is_no_copy_of_it(monkeypatch):
    facts, heard = play(monkeypatch)
    assert any(type(message) is Letter for _, message in heard)
    rows = facts["transmissions"].to_pylist()
    assert {row["kind"] for row in rows} == {"Told", "Reply", "Mixed"}
    letters = [row for row in rows if row["kind"] == "Told" and row["to"] >= 0]
    assert letters
    for row in letters:
        assert (row["category"], row["size"]) == ("event", 512)
        assert row["publication"] in set(facts["publications"]["publication"].to_pylist())


def test_a_category_may_differ_from_message_to_message(monkeypatch):
    facts, _ = play(monkeypatch)
    rows = [row for row in facts["transmissions"].to_pylist() if row["kind"] == "Mixed"]
    assert {row["node"] % 2: row["category"] for row in rows} == {0: "routing", 1: "subscription"}
    assert all(row["publication"] == -1 for row in rows)
