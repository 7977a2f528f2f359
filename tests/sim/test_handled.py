"""A router may show which messages it has handled; then copies cost no call, and nothing else changes."""

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
    return result.facts.digest(), result.metrics.drops["duplicate"], len(calls)


def test_copies_of_handled_messages_are_dropped_without_a_call(monkeypatch):
    hidden = play(monkeypatch, shown=False)
    monkeypatch.undo()
    shown = play(monkeypatch, shown=True)
    assert shown[:2] == hidden[:2]
    assert shown[2] == hidden[2] - hidden[1]
