"""A router may show which messages it has handled: copies then cost no call, and lost copies no row."""

from pathlib import Path

import roamcast
from roamcast.routing.flooding import Flooding

SQUARE = Path(__file__).parents[1] / "golden" / "square.toml"


def play(monkeypatch, *, shown):
    calls = []

    class Counted(Flooding):
        def __init__(self, host, parameters=None):
            super().__init__(host, parameters)
            if not shown:
                self.handled = None

        def receive(self, message, sender, signal):
            calls.append(sender)
            return super().receive(message, sender, signal)

    monkeypatch.setattr("roamcast.routing.flooding.Flooding", Counted)
    result = roamcast.run(SQUARE, "flooding", 11)
    facts = {name: digest for name, digest in result.facts.digests().items() if name != "drops"}
    return facts, result.metrics.drops["duplicate"], len(calls), result.facts["drops"].to_pylist()


def test_copies_of_handled_messages_are_dropped_without_a_call(monkeypatch):
    hidden = play(monkeypatch, shown=False)
    monkeypatch.undo()
    shown = play(monkeypatch, shown=True)
    assert shown[:2] == hidden[:2]
    assert shown[2] == hidden[2] - hidden[1]


def test_of_lost_frames_those_are_told_that_the_node_did_not_have(monkeypatch):
    hidden = play(monkeypatch, shown=False)[3]
    monkeypatch.undo()
    shown = play(monkeypatch, shown=True)[3]
    assert 0 < len(shown) < len(hidden)
    assert all(row in hidden for row in shown)
    facts = roamcast.run(SQUARE, "flooding", 11).facts
    repeated = {(r["publication"], r["node"]): r["time"] for r in facts["transmissions"].to_pylist()}
    for row in hidden:
        if row not in shown:  # it had the event: it has repeated it since, or published it
            assert (row["publication"], row["node"]) in repeated
