"""What a random set of small faults showed to be asserted by nobody."""

from matplotlib.figure import Figure

from roamcast.content.box.record_list_set import _either
from roamcast.content.field_type import Integer, String
from roamcast.content.filter import Filter
from roamcast.content.grouping.graph import SubscriptionGraph
from roamcast.content.grouping.incremental import make_incremental
from roamcast.content.schema import EventType

SONG = EventType("song", {"year": Integer(), "title": String()})


def test_a_box_stands_in_the_middle_of_the_room_that_it_has(tmp_path, monkeypatch):
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    SubscriptionGraph([SONG.year < 9, SONG.year > 20, SONG.title == "a"]).draw(tmp_path / "graph.svg")
    [figure] = figures
    width = figure.get_size_inches()[0]
    places = sorted(text.get_position()[0] / width for text in figure.axes[0].texts)
    assert [round(place, 6) for place in places] == [round(n / 6, 6) for n in (1, 3, 5)]


def test_the_numbers_of_groups_that_are_gone_are_forgotten():
    groups = make_incremental("graph")
    for key, year in enumerate((3, 5, 9, 20)):  # each covers the one before
        groups.add(key, SONG.year < year)
    [(label, members, _)] = groups.groups(SONG)
    assert members == (0, 1, 2, 3)
    [of_type] = groups._types.values()
    assert {top: number for top, (number, _) in of_type._tops.items()} == {SONG.year < 20: label}


def test_of_two_filters_one_of_which_is_the_other_or_nothing_the_one_stays_as_it_is():
    rough = Filter(SONG, ((SONG.year < 3).conjunctions[0], (SONG.year < 9).conjunctions[0]))
    assert _either(rough, rough) is rough
    assert _either(rough, Filter.nothing(SONG)) is rough
    assert _either(Filter.nothing(SONG), rough) is rough
    assert _either(SONG.year < 3, SONG.year < 9) == (SONG.year < 9)
