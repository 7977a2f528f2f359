"""The schemas of the pipeline's tables."""

import pytest

from roamcast.campaign.tables import TABLES


@pytest.mark.parametrize("table", TABLES)
def test_a_column_may_be_null_exactly_if_its_meaning_says_when(table):
    for field in TABLES[table]:
        meaning = field.metadata[b"meaning"].decode()
        assert field.nullable == ("; null: " in meaning), (field.name, meaning)
