"""The cache of a principal answers with the newest copy that matches, as a list of all copies would."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roamcast.content.field_type import Integer
from roamcast.content.schema import EventType
from roamcast.routing.clone.clone import Clone
from roamcast.routing.clone.principal import PublicationCache
from roamcast.routing.router import Publication
from roamcast.testing import Mesh

Content = EventType("content", {"topic": Integer(1, 20), "part": Integer()})

PUBLICATIONS = st.builds(
    lambda publisher, sequence, topic, part: Publication(
        publisher, sequence, Content(topic=topic, part=part)
    ),
    st.integers(0, 2),
    st.integers(1, 9),
    topic=st.integers(1, 3),
    part=st.integers(0, 1),
)


class Copies:
    """A slow twin: the copies in order of arrival, one for each event, the last `capacity` of them."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.kept = []

    def put(self, publication):
        same = [each for each in self.kept if each.event == publication.event]
        if any(each.publisher == publication.publisher and each.id >= publication.id for each in same):
            return
        others = [each for each in self.kept if each.event != publication.event]
        self.kept = [*others, publication][-self.capacity :]

    def newest(self, wanted):
        return next((each for each in self.kept[::-1] if wanted.matches(each.event)), None)


@given(st.lists(PUBLICATIONS, max_size=30), st.integers(1, 6))
def test_the_newest_copy_that_matches_is_the_answer(publications, capacity):
    cache, copies = PublicationCache(capacity), Copies(capacity)
    for publication in publications:
        cache.put(publication)
        copies.put(publication)
        assert len(cache) == len(copies.kept)
        for topic in range(1, 4):
            assert cache.newest(Content.topic == topic) == copies.newest(Content.topic == topic)


@settings(max_examples=10)
@given(st.permutations(range(4)), st.integers(2, 4))
def test_a_request_is_answered_with_the_copy_that_came_last(parts, count):
    """Node 0 keeps the different events that it has published; later a neighbour asks for one of them."""
    mesh = Mesh(2, Clone, [(0, 1)])
    for node in (0, 1):
        mesh.place(node, 100.0 * node, 0.0)
    mesh.add_event_type(Content)
    wanted = Content.topic == 1
    mesh.advertise(0, wanted)
    mesh.run(for_=70)
    for part in parts[:count]:
        published = mesh.publish(0, Content(topic=1, part=part))
        mesh.run(for_=1)
    mesh.request(1, wanted)
    mesh.run(for_=60)
    assert {(each.node, each.publication.id) for each in mesh.deliveries} == {(1, published.id)}
