from roamcast.routing.state.floods import FloodTable


def test_a_flood_is_news_once_until_it_is_forgotten():
    floods = FloodTable(5.0, 10)
    assert floods.note(1, 0.0)
    assert not floods.note(1, 4.9)
    assert floods.note(2, 4.9)
    assert floods.note(1, 5.0)  # hearing it again did not prolong the memory
    assert len(floods) == 2


def test_a_full_table_forgets_the_oldest_flood():
    floods = FloodTable(5.0, 2)
    assert [floods.note(id, 0.0) for id in (1, 2, 3, 1)] == [True, True, True, True]
    assert not floods.note(3, 0.0)
