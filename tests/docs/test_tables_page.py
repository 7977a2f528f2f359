from pathlib import Path

from roamcast.pipeline.reference import document

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_of_tables_says_what_the_schemas_say():
    assert PAGE.read_text() == document(), "run: python -m roamcast.pipeline.reference > docs/tables.md"
