"""Reports of a small campaign whose tables are made by hand: no Spark, no simulation."""

import json
import os
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

from roamcast.cli.app import invoke
from roamcast.pipeline.campaign import Campaign
from roamcast.pipeline.claims import make_tables
from roamcast.pipeline.plan import make_plan
from roamcast.pipeline.store import Store
from roamcast.pipeline.tables import TABLES
from roamcast.report.figures import Panels
from roamcast.report.markdown import make_markdown
from roamcast.report.page import make_page
from roamcast.report.record import record
from roamcast.report.result import Result, short, with_interval

COUNT = "workload.subscribe.walkers.count"
SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"
KINDS = ["messages_event", "messages_subscription", "messages_routing", "messages_control"]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    campaign = Campaign.model_validate(
        {
            "title": "Fast & <slow>",
            "paper": "Someone, section 5",
            "scenario": SHOPPING,
            "seeds": 3,
            "protocols": {"flooding": {}, "slow": {"router": "flooding", "parameters": {"jitter": "20 ms"}}},
            "sweeps": {"people": {"protocols": ["flooding", "slow"], "grid": {COUNT: [10, 30, 50]}}},
            "figures": {
                "one": {
                    "title": "Figure 1",
                    "sweep": "people",
                    "x": COUNT,
                    "x_title": "subscribers",
                    "y": ["delivery_rate", "delay_mean", KINDS],
                }
            },
            "claims": {
                name: {
                    "kind": "band",
                    "says": f"The {name} claim",
                    "section": "5.1",
                    "figure": "figure 1",
                    "paper": "about 75 %",
                    "sweep": "people",
                    "metric": "delivery_rate",
                    "protocol": "slow",
                    "low": low,
                }
                for name, low in (("true", 0.5), ("false", 0.72))
            },
        }
    )
    store = Store(tmp_path_factory.mktemp("campaign"))
    store.create()
    store.write_campaign(campaign, quick=True, seconds={"session": 7.0})
    plan = make_plan(campaign)
    store.write_plan(plan)
    made = make_tables(campaign, plan)
    rows = {"verdicts": made["checks"].to_pylist(), "summary": [], "differences": [], "runs": []}
    for i, check in enumerate(rows["verdicts"]):
        ours = 0.7 + 0.01 * (i % 3)
        held = ours >= check["low"]
        check |= {
            "count": 3,
            "ours": ours,
            "half": 0.005,
            "held": held,
            "sure": abs(ours - check["low"]) > 0.005,
        }
    for point in sorted({(place.point, place.protocol) for place in plan.places}):
        for metric, mean in (
            ("delivery_rate", 0.7),
            ("delay_mean", 0.09),
            *((kind, 5000.0) for kind in KINDS),
        ):
            place = {"sweep": "people", "point": point[0], "protocol": point[1], "metric": metric, "count": 3}
            spread = {"mean": mean, "deviation": 0.1, "half": 0.02 * mean, "least": mean, "most": mean}
            rows["summary"].append(place | spread)
    for run in plan.runs:
        used = {"wall": 1.0, "cpu": 0.9, "memory": 1 << 20, "rows": 10, "size": 100}
        rows["runs"].append({"run": run.id, "status": "done", "error": ""} | used)
    rows["runs"][0] |= {"status": "failed", "error": "RuntimeError: <b>fire</b>"}
    for name, table in rows.items():
        store.write_table(name, pa.Table.from_pylist(table, TABLES[name]))
    return Result(store)


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
            v for k, v in attributes if k in ("src", "href", "xlink:href") and not v.startswith("#")
        ]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_no_network(result):
    page = make_page(result)
    reader = Well()
    reader.feed(page)
    assert reader.open == [] and reader.asked == []
    assert page.count("<svg") == 3
    assert "url(http" not in page and "@import" not in page


def test_the_page_tells_claims_failures_versions_and_how_to_reproduce(result):
    page = make_page(result)
    assert "Fast &amp; &lt;slow&gt;" in page and "&lt;b&gt;fire&lt;/b&gt;" in page
    for told in (
        "section 5.1, figure 1",
        "about 75 %",
        "1 of 2 claims held, 1 did not.",
        "Quick version",
    ):
        assert told in page
    assert "each check" in page and "17 runs done" in page and "1 runs failed" in page
    assert "roamcast run" in page and "--seed 1" in page and "pyspark" in page and "jitter = 20 ms" in page


def test_the_page_tells_each_label_by_the_parameters_of_its_own_runs(result):
    page = make_page(result)
    told = {label: page.split(f"<dt>{label} ")[1].split("</dd>")[0] for label in ("flooding", "slow")}
    assert "jitter = 0.01" in told["flooding"] and "jitter = 0.02" in told["slow"]


def test_a_failed_run_is_listed_with_the_command_that_shows_it_again(result):
    run, _ = result.failures()[0]
    command = next(row["command"] for row in result.tables["plan"] if row["run"] == run)
    failures = make_page(result).split("<h2>Failures</h2>")[1].split("</section>")[0]
    assert escape(command) in failures


def test_a_program_reads_claims_points_and_failures(result):
    told = json.loads(json.dumps(record(result, Path("report.html"))))
    assert told["quick"] and told["seeds"] == [1, 2, 3] and told["runs"] == {"done": 17, "failed": 1}
    assert told["failures"][0]["error"] == "RuntimeError: <b>fire</b>"
    verdicts = {claim["name"]: claim["verdict"] for claim in told["claims"]}
    assert verdicts == {"true": "held", "false": "not held"}
    assert [check["held"] for check in told["claims"][1]["checks"]] == [False, False, True]
    assert [point["settings"] for point in told["points"]] == [{COUNT: 10}, {COUNT: 30}, {COUNT: 50}]
    rate = told["points"][0]["protocols"]["slow"]["delivery_rate"]
    assert rate["mean"] == 0.7 and rate["half"] == pytest.approx(0.014)


def test_a_campaign_tells_how_it_stands(result, capsys):
    folder = str(result.store.folder)
    assert invoke(["campaign", "status", folder, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["planned"], told["done"], told["missing"], told["running"]) == (18, 0, 18, None)
    with result.store.lock():
        assert invoke(["campaign", "status", folder]) == 0
    words = capsys.readouterr().out
    assert (
        "18 runs: 0 done, 0 failed, 18 missing" in words and f"running now, as process {os.getpid()}" in words
    )
    assert invoke(["campaign", "runs", folder, "--json"]) == 0
    assert {row["status"] for row in json.loads(capsys.readouterr().out)} == {"missing"}
    assert invoke(["campaign", "runs", folder, "--failed"]) == 0
    assert capsys.readouterr().out == "none of 18 runs failed\n"


def test_the_same_tables_give_the_same_page(result):
    assert make_page(result) == make_page(result)


def test_figures_come_as_files_for_papers(result, tmp_path):
    for kind in ("png", "pdf", "svg"):
        Panels(result, "one").save(tmp_path / f"one.{kind}")
        assert (tmp_path / f"one.{kind}").stat().st_size > 5000


def test_the_markdown_page_has_every_claim_and_figure(result):
    text = make_markdown(result, "figures")
    assert "| The false claim | 5.1, figure 1 | about 75 % | Delivery rate: at least 0.72 |" in text
    assert "**not held**" in text and "![Figure 1](figures/one.svg)" in text


def test_numbers_read_well():
    assert [short(x) for x in (0.7512, 12345.6, 3.0, None)] == ["0.751", "12,346", "3", "-"]
    assert with_interval(0.7512, 0.0123) == "0.751 ± 0.012"
    assert with_interval(12345.6, 78.9) == "12,346 ± 79"
    assert with_interval(0.75, None) == "0.75"


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
    told = browse(page, tmp_path / "profile-frame", "--virtual-time-budget=10000", "--dump-dom").stdout
    assert "<title>wide 360</title>" in told, re.findall("<title>.*?</title>", told)
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
        assert blue.sum() > 500
        assert pixels[:, -4:].min() > 0.95, "something sticks out at the right edge"


def test_the_page_is_readable_text_where_svg_has_words(result):
    assert re.search(r"<text[^>]*>.*subscribers", make_page(result))
