from hypothesis import given
from hypothesis import strategies as st

from roamcast.content.declare import declare_type
from roamcast.content.filter import Filter
from roamcast.sim.oracle import Oracle

ALERT = declare_type("alert", {"level": {"kind": "integer", "min": 0, "max": 5}, "cause": ["fire", "flood"]})
FILTERS = [
    Filter.parse(text, ALERT)
    for text in (
        "/alert",
        "/alert[level > 3]",
        "/alert[level = 2 or cause = 'fire']",
        "/alert[cause != 'fire']",
        "/alert[level < 0]",
    )
]
node = st.integers(0, 4)
interest = st.tuples(st.booleans(), node, st.sampled_from(FILTERS))


@given(st.lists(interest, max_size=30), st.integers(0, 5), st.sampled_from(["fire", "flood"]), node)
def test_the_oracle_equals_asking_everyone(history, level, cause, publisher):
    oracle = Oracle()
    interests = []
    event = ALERT(level=level, cause=cause)
    for begins, who, wanted in history:
        if begins:
            oracle.add(who, wanted)
            interests.append((who, wanted))
        elif (who, wanted) in interests:
            oracle.remove(who, wanted)
            interests.remove((who, wanted))
        asked = {who for who, wanted in interests if wanted.matches(event)}
        assert oracle.audience(event).tolist() == sorted(asked)
        assert oracle.expected(event, publisher) == sorted(asked - {publisher})
