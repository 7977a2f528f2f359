"""Covers, candidates and relations with filters that match nothing, and with little memory."""

from roamcast.content.covering import MinimalCover, RelationCache
from roamcast.content.covering import relations as remembered
from roamcast.content.covering.candidates import Candidates
from roamcast.content.filter import Filter

from .test_seldom_boxes import OFFER, PAGE


def test_a_cover_holds_what_matches_nothing_and_lets_it_go():
    nothing, wide, narrow = Filter.nothing(PAGE), PAGE.n > 3, PAGE.n > 5
    for few in (0, 9):
        cover = MinimalCover([nothing], few=few)
        assert nothing in cover and wide not in cover and cover.minimal() == [nothing]
        assert cover.add(wide) and not cover.add(narrow)
        assert nothing in cover and cover.minimal() == [wide] and len(cover) == 3
        cover.discard(wide)
        assert cover.minimal() == [narrow]
        cover.discard(narrow)
        assert cover.minimal() == [nothing]
        cover.discard(nothing)
        assert cover.minimal() == [] and nothing not in cover


def test_candidates_know_those_that_match_nothing_until_they_go():
    nothing, wide, other = Filter.nothing(PAGE), PAGE.n > 3, OFFER.n > 3
    for few in (0, 9):
        candidates = Candidates(few)
        for each in (nothing, wide, other):
            candidates.add(each)
        assert nothing in candidates and nothing in candidates.under(PAGE.n > 4)
        assert set(candidates.over(nothing)) == {nothing, wide, other}
        candidates.remove(nothing)
        assert nothing not in candidates and nothing not in candidates.under(PAGE.n > 4)
        assert list(candidates) == [wide, other] and len(candidates) == 2


def test_relations_are_remembered_and_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(remembered, "MEMORY", 2)
    relations = RelationCache()
    filters = [PAGE.n > n for n in range(4)]
    for _ in range(2):
        for one in filters:
            assert relations.intersects(one, PAGE.n > 9) and not relations.intersects(one, PAGE.n < -1)
            assert relations.covers(filters[0], one)
            assert len(relations._intersects) <= 2 and len(relations._covers) <= 2
