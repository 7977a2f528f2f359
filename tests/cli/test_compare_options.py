"""Options of `compare` that are refused before anything runs."""

import pytest

from roamcast.cli.app import invoke


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--goal", "beauty"], "goal 'beauty': expected delivery, delay, messages, airtime, energy"),
        (["--deadline", "soon"], "'soon' is not a quantity"),
        (["--deadline", "2"], "has no unit"),
        (["--deadline", "0 s"], "deadline '0 s': expected a time above 0"),
        (["--deadline", "-1 s"], "deadline '-1 s': expected a time above 0"),
        (["--figures", "svg,gif"], "--figures svg,gif: expected png, pdf, svg, separated by commas"),
        (["--figures", ""], "--figures : expected png, pdf, svg"),
    ],
)
def test_a_wrong_option_is_one_message_and_code_2(options, says, tmp_path, capsys):
    folder = tmp_path / "out"
    assert invoke(["compare", "shopping", "--protocols", "cbr,flooding", "--out", str(folder), *options]) == 2
    message = capsys.readouterr().err
    assert says in message and "Traceback" not in message and not folder.exists()
