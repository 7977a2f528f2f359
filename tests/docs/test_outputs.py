"""Outputs that pages show are compared with what commands print."""

import pytest
from pages import ROOT, agrees, follow

PAGE = """# A page

```console
$ echo one; echo two
one
{second}
```
"""


@pytest.mark.parametrize("second", ["two", "..."])
def test_an_output_that_is_shown_as_printed_is_right(tmp_path, second):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(second=second))
    assert follow(page, tmp_path)


def test_an_output_of_older_code_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(second="three"))
    with pytest.raises(AssertionError, match="the page shows:\none\nthree\nit prints:\none\ntwo"):
        follow(page, tmp_path)


def test_times_of_a_machine_and_blanks_do_not_matter_and_other_numbers_do():
    assert agrees(["│ processor time │ 2.79 s │"], ["│ processor time   │  1.03 s │", ""])
    assert agrees(["│ processor time │ 1.14 s │"], ["│ processor time │ 907.7 ms │"])
    assert agrees(["first", "...", "last"], ["first", "last"])
    assert not agrees(["│ delivered │ 94.9 % │"], ["│ delivered │ 94.8 % │"])
    assert not agrees(["first"], ["first", "second"])


def test_the_first_run_of_the_tour_comes_out_as_shown(tmp_path):
    shown = ["roamcast check alarm.toml", "roamcast run alarm.toml"]
    page = ROOT / "docs" / "tour.md"
    ran = follow(page, tmp_path, skip=lambda words: " ".join(words) not in shown)
    assert [command for command, _ in ran] == shown
