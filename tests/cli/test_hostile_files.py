"""Whatever is put before the command, it answers in a line: one clear message, exit code 2, no traceback."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from roamcast.cli.app import invoke
from roamcast.files import check_depth

SCENARIO = """\
name = "tiny"
area = { width = "300 m", height = "200 m" }
duration = "20 s"

[nodes.walkers]
count = 3

[radio]
range = "100 m"
"""
CAMPAIGN = """\
title = "test"
scenario = "s.toml"
seeds = 2

[protocols.flooding]

[sweeps.people]
protocols = ["flooding"]
grid."nodes.walkers.count" = [2, 3]

[claims.half]
kind = "band"
says = "half arrive"
sweep = "people"
metric = "delivery_rate"
protocol = "flooding"
low = 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCENARIO)
    Path("c.toml").write_text(CAMPAIGN)
    return tmp_path


def refused(capsys, *arguments):
    assert invoke([*map(str, arguments)]) == 2
    message = capsys.readouterr().err.strip()
    assert message.count("\n") == 0 and len(message) < 400, message
    return message


def test_a_line_of_very_many_dotted_keys_is_no_key(folder, capsys):
    dots = ".".join(["a"] * 20_000)
    for text in (f"{dots} = 1", f"[{dots}]", f"x = {{ {dots} = 1 }}", dots.replace("a", "'a'") + " = 1"):
        Path("deep.toml").write_text(f"{SCENARIO}\n{text}\n")
        assert re.search(
            r"deep.toml:11: a key has \d+ parts, expected at most", refused(capsys, "check", "deep.toml")
        )
    assert "is not a scenario key" in refused(capsys, "run", "s.toml", "--set", f"{dots}=1")


def test_long_lists_of_numbers_and_long_texts_are_no_deep_keys(folder):
    many = ", ".join(repr(f"{i / 10} ms") for i in range(60))
    shares = ", ".join(f"{i / 100}" for i in range(60))
    Path("c.toml").write_text(
        f"about = '{'a.' * 500}'\n{CAMPAIGN}\n[sweeps.many]\nprotocols = ['flooding']\n"
        f"grid.'protocol.flooding.jitter' = [{many}]\n"
    )
    assert invoke(["check", "c.toml"]) == 0
    check_depth(Path("x"), f"x = [{shares}]")


def test_a_file_without_an_end_is_not_read_to_its_end(folder, capsys):
    assert "/dev/zero: longer than 4,000,000 bytes" in refused(capsys, "check", "/dev/zero")
    assert "not a file: /dev/zero" in refused(capsys, "run", "s.toml", "--set", "mobility.ns2=/dev/zero")
    assert "longer than" in refused(capsys, "filter", "groups", "/dev/zero")


def test_a_byte_order_mark_does_no_harm_and_another_encoding_is_told(folder, capsys):
    Path("s.toml").write_text(SCENARIO, encoding="utf-8-sig")
    assert invoke(["check", "s.toml"]) == 0
    Path("s.toml").write_text(SCENARIO, encoding="utf-16")
    assert "s.toml: not a text file in UTF-8" in refused(capsys, "check", "s.toml")


def test_a_billion_seeds_or_points_are_refused_before_they_fill_the_memory(folder, capsys):
    for change, entry in (
        (("seeds = 2", "seeds = 1000000000"), "c.toml:3: seeds: should be less than or equal to 10000"),
        (("seeds = 2", "seeds = [-1]"), "c.toml:3: seeds.0: should be greater than or equal to 0"),
    ):
        Path("c.toml").write_text(CAMPAIGN.replace(*change))
        assert entry in refused(capsys, "check", "c.toml")
    axes = "\n".join(f'grid."protocol.flooding.p{i}" = {list(range(100))}' for i in range(4))
    Path("c.toml").write_text(CAMPAIGN.replace("[claims.half]", f"{axes}\n[claims.half]"))
    assert "points; expected at most 100,000" in refused(capsys, "check", "c.toml")


def test_an_override_never_makes_a_new_group(folder, capsys):
    for pair in ("nodes.walker.count=20", "nodes.walker={ count = 2 }", "nodes={ walker = { count = 2 } }"):
        result = refused(capsys, "run", "s.toml", "--set", pair)
        assert "no group of nodes has this name; did you mean 'walkers'?" in result
    Path("c.toml").write_text(CAMPAIGN.replace("nodes.walkers.count", "nodes.walker.count"))
    result = "c.toml:9: sweeps.people.grid: nodes.walker.count: no group of nodes has this name; did you mean"
    assert result in refused(capsys, "check", "c.toml")


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (
            ('"band"', '"bnd"'),
            "c.toml:12: claims.half.kind: 'bnd' is none of the kinds; did you mean 'band'?",
        ),
        (('kind = "band"\n', ""), "c.toml:11: claims.half: has no kind"),
        (("low = 0.5", 'low = "much"'), "c.toml:17: claims.half.low: should be a number, not 'much'"),
        (("low = 0.5", "lwo = 0.5"), "c.toml:17: claims.half.lwo: unknown key; did you mean 'low'?"),
        (("low = 0.5", "low = 2\nhigh = 1"), "c.toml:11: claims.half: low (2.0) is above high (1.0)"),
        (("[2, 3]", "[]"), "c.toml:9: sweeps.people.grid.nodes.walkers.count: should not be empty"),
        (("[2, 3]", "2"), "c.toml:9: sweeps.people.grid.nodes.walkers.count: should be a list, not 2"),
        (("[2, 3]", "[2, 0]"), "c.toml:9: sweeps.people.grid: nodes.walkers.count: should be greater than"),
        (
            ("walkers.count", "walkers.cuont"),
            "c.toml:9: sweeps.people.grid: nodes.walkers.cuont: unknown key",
        ),
        (('"s.toml"', '"gone.toml"'), "c.toml:2: scenario: no such file: gone.toml"),
        (("seeds = 2", 'seeds = "two"'), "c.toml:3: seeds: should be a whole number, not 'two'"),
        (('["flooding"]', "[]"), "c.toml:8: sweeps.people.protocols: should not be empty"),
    ],
)
def test_a_mistake_in_a_campaign_is_told_by_file_line_and_key_in_plain_words(folder, capsys, change, result):
    text = CAMPAIGN.replace(*change)
    assert text != CAMPAIGN
    Path("c.toml").write_text(text)
    found = refused(capsys, "check", "c.toml")
    assert result in found, found
    assert not re.search(r"Input|tag|pydantic|discriminat|valid|instance|pars", found), found


def test_a_closed_standard_output_is_told_in_a_line():
    for arguments in (["protocols"], ["--help"], ["check", "x.toml"]):
        command = f"{sys.executable} -c 'from roamcast.cli import main; main()' {' '.join(arguments)} >&-"
        completed = subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True, text=True)
        assert (completed.returncode, completed.stderr) == (
            2,
            "roamcast: cannot write: standard output is closed\n",
        )
