from pathlib import Path

from roamcast.routing.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "wire.md"


def test_the_page_of_messages_says_what_the_declarations_say():
    assert PAGE.read_text() == page(), "run: python -m roamcast.routing.reference > docs/wire.md"
