"""Reports of a small campaign whose tables are made by hand: no Spark, no simulation."""

import json
import os
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from finished_campaign import COUNT

from roamcast.cli.app import invoke
from roamcast.report.drawings.axes import name_key, place_values
from roamcast.report.drawings.catalogue import list_figures
from roamcast.report.drawings.figures import PANEL, FigurePanels, svg_text
from roamcast.report.json_result import to_record
from roamcast.report.markdown import make_markdown
from roamcast.report.numbers import format_estimate, format_interval, short
from roamcast.report.page.page import make_page
from roamcast.report.page.readings_page import count_runs
from roamcast.report.page.verdicts import sum_up
from roamcast.studio.reading.answers import read_answer


class Well(HTMLParser):
    """Notices tags that do not match, and anything that would ask the network."""

    VOID = frozenset({"meta", "br", "hr", "img", "link"})

    def __init__(self):
        super().__init__()
        self.open, self.asked = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        self.asked += [
            v
            for k, v in attributes
            if k in ("src", "href", "xlink:href") and not v.startswith(("#", "data:"))
        ]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_no_network(page):
    reader = Well()
    reader.feed(page)
    assert reader.open == [] and reader.asked == []
    assert page.count("<svg") == 3
    assert "url(http" not in page and "@import" not in page


def test_the_page_tells_claims_failures_versions_and_how_to_reproduce(page):
    assert "Fast &amp; &lt;slow&gt;" in page and "&lt;b&gt;fire&lt;/b&gt;" in page
    for expected in (
        "section 5.1, figure 1",
        "about 75 %",
        "1 of 3 claims held, 1 did not, 1 is undecided.",
        "<strong>undecided</strong>",
        "Quick version",
    ):
        assert expected in page
    assert "each check" in page and "35 runs done" in page and "1 runs failed" in page
    assert "roamcast run" in page and "--seed 1" in page and "pyspark" in page and "jitter = 20 ms" in page


def test_the_page_tells_each_label_by_the_parameters_of_its_own_runs(page):
    shown = {label: page.split(f"<dt>{label} ")[1].split("</dd>")[0] for label in ("flooding", "slow")}
    assert "jitter = 0.01" in shown["flooding"] and "jitter = 0.02" in shown["slow"]


def test_a_failed_run_is_listed_with_the_command_that_shows_it_again(result, page):
    run, _ = result.failures()[0]
    command = next(row["command"] for row in result.tables["plan"] if row["run"] == run)
    failures = page.split("<h2>Failures</h2>")[1].split("</section>")[0]
    assert escape(command) in failures


def test_a_program_reads_claims_points_and_failures(result):
    record = json.loads(json.dumps(to_record(result, Path("report.html"))))
    assert (
        record["quick"]
        and record["seeds"] == [1, 2, 3, 4, 5, 6]
        and record["runs"] == {"done": 35, "failed": 1}
    )
    assert record["failures"][0]["error"] == "RuntimeError: <b>fire</b>"
    verdicts = {claim["name"]: claim["verdict"] for claim in record["claims"]}
    assert verdicts == {"true": "held", "false": "not held", "open": "undecided"}
    assert [check["verdict"] for check in record["claims"][1]["checks"]] == [
        "not held",
        "not held",
        "undecided",
    ]
    assert [point["settings"] for point in record["points"]] == [{COUNT: 10}, {COUNT: 30}, {COUNT: 50}]
    rate = record["points"][0]["protocols"]["slow"]["delivery_rate"]
    assert rate["mean"] == 0.7 and rate["half"] == pytest.approx(0.014)


def test_a_campaign_tells_how_it_stands(result, capsys):
    folder = str(result.store.folder)
    assert invoke(["campaign", "status", folder, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["planned"], record["done"], record["missing"], record["running"]) == (36, 0, 36, None)
    with result.store.lock():
        assert invoke(["campaign", "status", folder]) == 0
    words = capsys.readouterr().out
    assert (
        "36 runs: 0 done, 0 failed, 36 missing" in words and f"running now, as process {os.getpid()}" in words
    )
    assert invoke(["campaign", "runs", folder, "--json"]) == 0
    assert {row["status"] for row in json.loads(capsys.readouterr().out)} == {"missing"}
    assert invoke(["campaign", "runs", folder, "--failed"]) == 0
    assert capsys.readouterr().out == "none of 36 runs failed\n"


def test_the_same_tables_give_the_same_page(result, page):
    assert make_page(result) == page


def test_figures_come_as_files_for_papers(result, tmp_path):
    for kind in ("png", "svg"):
        FigurePanels(result, "one").save(tmp_path / f"one.{kind}")
        assert (tmp_path / f"one.{kind}").stat().st_size > 5000
    figures = list_figures(result)
    assert list(figures) == ["one-delivery_rate", "one-delay_mean", "one-messages_event-stacked"]
    for figure in figures.values():
        content = figure.render("pdf")
        assert b"/TrueType" in content or b"/CIDFontType2" in content  # Type 3 is what journals send back
        assert b"/Type3" not in content
        assert re.search(rb"/MediaBox \[ 0 0 252 ", content), "a column is 3.5 inches wide"


def test_axes_are_named_in_words_with_units(page):
    assert ">Delay (s)<" in page and ">subscribers<" in page
    assert name_key("nodes.walkers.speed.max", ["1 m/s", "5 m/s"]) == "greatest speed of walkers (m/s)"
    assert name_key("nodes.walkers.count", [10, 20]) == "number of walkers"
    assert name_key("radio.range", ["100 m"], "reach", "hm") == "reach (hm)"
    assert name_key("protocol.ft-cbr.ack_wait", ["10 ms"]) == "ack wait of ft-cbr (ms)"


def test_values_in_different_units_are_not_put_on_one_scale():
    assert place_values(["500 ms", "1 s"]) == {"500 ms": 0.0, "1 s": 1.0}
    assert place_values(["1 s", "5 s"]) == {"1 s": 1.0, "5 s": 5.0}


def test_plots_of_neighbouring_panels_are_of_one_size_and_delays_on_a_log_axis(result, monkeypatch):
    drawn = []
    kept = FigurePanels._panel
    monkeypatch.setattr(FigurePanels, "_panel", lambda *a: (kept(*a), drawn.append(a[1]))[0])
    panels = FigurePanels(result, "one")
    shapes = {
        re.search(r'viewBox="[^"]*"', svg_text(panel.draw()))[0] for panel in panels.single_panels(PANEL)
    }
    assert len(shapes) == 1 and len({axes.get_position().bounds for axes in drawn}) == 1
    assert [axes.get_yscale() for axes in drawn] == ["linear", "log", "linear"]


def test_the_markdown_page_has_every_claim_and_figure(result):
    text = make_markdown(result, "figures")
    assert "| The false claim | 5.1, figure 1 | about 75 % | Delivery rate: at least 0.72 |" in text
    assert "**not held**" in text and "![Figure 1](figures/one.svg)" in text


def test_a_page_of_no_committed_runs_says_how_many_are_planned(result, monkeypatch):
    assert count_runs(result) == "35 done, 1 failed"
    monkeypatch.setitem(result.tables, "runs", [])
    assert count_runs(result) == "0 of 36 done"


def test_the_studio_has_the_verdicts_of_the_report(result):
    verdicts = read_answer(str(result.store.folder))["verdicts"]
    assert verdicts["summary"] == sum_up(result.claims)
    found = {claim["says"]: claim for claim in verdicts["claims"]}
    assert {says: claim["verdict"] for says, claim in found.items()} == {
        f"The {name} claim": judged.verdict_text
        for name, judged in zip(("true", "false", "open"), result.claims, strict=True)
    }
    assert found["The false claim"]["mark"] == "not-held"
    assert found["The false claim"]["bounds"] == "Delivery rate: at least 0.72"


def row(mean, lower, upper, count=10):
    return {
        "mean": mean,
        "half": 0.1,
        "lower": lower,
        "upper": upper,
        "least": 0.5,
        "most": 1.0,
        "count": count,
    }


def test_brackets_are_an_interval_to_two_digits_of_its_shorter_side():
    assert format_estimate(row(0.7, 0.65, 0.75)) == "0.700 [0.650, 0.750]"
    assert format_estimate(row(0.954, 0.661, 0.995)) == "0.954 [0.661, 0.995]"
    assert format_estimate(row(0.954, 0.661, 0.995), factor=100, unit="%") == "95.4 [66.1, 99.5] %"
    assert format_estimate(row(1.0, 0.976, 1.0)) == "1.000 [0.976, 1.000]"
    assert format_estimate(row(0.63, 0.15, 2.63)) == "0.63 [0.15, 2.63]"
    assert format_interval(67263.8, 58579.2, 77236.4) == "67300 [58600, 77200]"
    assert format_interval(0.5, 0.5, 0.5) == "0.500 [0.500, 0.500]"
    assert format_interval(0.0, 0.0, 0.0) == "0 [0, 0]"


def test_with_few_seeds_the_seeds_are_told_and_no_interval():
    assert format_estimate(row(0.7, -40.0, 50.0, count=2)) == "0.70 (0.50 to 1.00)"
    assert format_estimate(row(0.7, 0, 0, count=1)) == "0.7"


def test_numbers_read_well():
    assert [short(x) for x in (0.7512, 12345.6, 3.0, None)] == ["0.751", "12,346", "3", "-"]


def browse(page, profile, *more):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += [f"--user-data-dir={profile}", "--hide-scrollbars", *more]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "this test needs a browser: apt-get install chromium"
    return subprocess.run(
        [chromium, *flags, page.as_uri()], capture_output=True, text=True, timeout=240, check=False
    )


def shoot(page, file, width, height, profile):
    done = browse(page, profile, f"--window-size={width},{height}", f"--screenshot={file}")
    assert file.is_file(), done.stderr[-2000:]


@pytest.mark.slow
def test_nothing_sticks_out_of_a_narrow_phone_and_it_prints(result, tmp_path):
    """A browser's window is at least 500 pixels wide, so the page stands in a frame of 360."""
    page = tmp_path / "framed.html"
    inside = escape(make_page(result))
    page.write_text(
        f'<body><iframe id="phone" style="width:360px;height:600px;border:0" srcdoc="{inside}"></iframe>'
        "<script>document.getElementById('phone').onload = e => { document.title = "
        "'wide ' + e.target.contentDocument.documentElement.scrollWidth }</script>"
    )
    shown = browse(page, tmp_path / "profile-frame", "--virtual-time-budget=10000", "--dump-dom").stdout
    assert "<title>wide 360</title>" in shown, re.findall("<title>.*?</title>", shown)
    report, paper = tmp_path / "report.html", tmp_path / "report.pdf"
    report.write_text(make_page(result))
    browse(report, tmp_path / "profile-print", f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF") and paper.stat().st_size > 20_000


@pytest.mark.slow
def test_a_browser_shows_the_page_on_a_screen_and_on_a_phone(result, tmp_path):
    import numpy as np
    from matplotlib.image import imread

    page = tmp_path / "report.html"
    page.write_text(make_page(result))
    for name, width, height in (("screen", 1200, 1800), ("phone", 500, 2400)):
        shot = tmp_path / f"{name}.png"
        shoot(page, shot, width, height, tmp_path / f"profile-{name}")
        pixels = imread(shot)[:, :, :3]
        assert pixels.shape[:2] == (height, width)
        ink = (pixels.min(axis=2) < 0.6).mean()
        assert 0.005 < ink < 0.5, f"{name} is empty or black: {ink}"
        # Colours of the three panels' lines and bars are really painted.
        blue = np.abs(pixels - np.array([0, 0x72, 0xB2]) / 255).max(axis=2) < 0.02
        assert blue.sum() > 150
        assert pixels[:, -4:].min() > 0.95, "something sticks out at the right edge"


def test_claims_stand_after_the_figure_that_they_speak_of(page):
    assert page.index("Figure 1</h2>") < page.index("The true claim") < page.index("<summary>Numbers")


def test_runs_can_be_copied_from_a_narrow_terminal(result, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert invoke(["campaign", "runs", str(result.store.folder)]) == 0
    output = capsys.readouterr().out
    assert all(row["run"] in output for row in result.tables["plan"])


def test_the_page_is_readable_text_where_svg_has_words(page):
    assert re.search(r"<text[^>]*>.*subscribers", page)
