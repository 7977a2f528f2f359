from roamcast.content.field_type import Integer
from roamcast.content.filter import Filter
from roamcast.content.schema import EventType
from roamcast.routing.flooding import Flood, Flooding
from roamcast.routing.router import Drop
from roamcast.testing import Mesh

News = EventType("news", {"level": Integer()})
NEWS = News(level=5)
ALL_NEWS = Filter.everything(News)


def test_an_event_crosses_the_line_and_is_delivered_once_to_whoever_wants_it():
    mesh = Mesh.line(5, Flooding)
    mesh.subscribe(4, ALL_NEWS)
    mesh.subscribe(2, ALL_NEWS)
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert mesh.delivered == [(2, NEWS), (4, NEWS)]


def test_everyone_repeats_once_and_says_what_became_of_copies():
    mesh = Mesh.full(6, Flooding)
    mesh.publish(0, NEWS)
    mesh.run(for_=1)
    assert len(mesh.sent_of(Flood)) == 6
    assert mesh.drop_counts() == {Drop.DUPLICATE: 6 * 5 - 5}
