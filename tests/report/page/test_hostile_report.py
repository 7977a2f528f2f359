"""Hostile names and texts of a campaign or a scenario do nothing in the report."""

import re
import shutil
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from finished_campaign import SHOPPING, write_tables

from roamcast.campaign.campaign import Campaign
from roamcast.campaign.tables import TABLES
from roamcast.pipeline.campaign_folder import CampaignFolder
from roamcast.report.page.page import make_page
from roamcast.report.result import CampaignResult

HOSTILE = [
    "<script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "' autofocus onfocus='document.title=1' x='",
    "</style></title></svg><script>document.title='taken'</script>",
    "../../etc/passwd",
    "javascript:alert(1)",
    r"$\frac{$",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A comparison in which every free text is hostile: labels, titles, the scenario's and groups' names."""
    labels = HOSTILE[:4]
    campaign = Campaign.model_validate(
        {
            "title": HOSTILE[3],
            "about": HOSTILE[0],
            "paper": HOSTILE[1],
            "scenario": SHOPPING,
            "seeds": 6,
            "protocols": {
                label: {"router": "flooding", "title": HOSTILE[6], "parameters": {"jitter": f"{i + 1} ms"}}
                for i, label in enumerate(labels)
            },
            "sweeps": {HOSTILE[1]: {"protocols": labels}},
        }
    )
    store = CampaignFolder(tmp_path_factory.mktemp("hostile"))
    store.create()
    store.write_campaign(campaign, command=HOSTILE[0], seconds={HOSTILE[1]: 1.0})
    write_tables(store, campaign)
    plan = store.read_table("plan").to_pylist()
    for row in plan:
        row["command"] = HOSTILE[2]
    store.write_table("plan", pa.Table.from_pylist(plan, TABLES["plan"]))
    result = CampaignResult(store)
    result.stale = frozenset()
    result.tables = {name: store.read_table(name).to_pylist() for name in result.tables}
    return make_page(result)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes


def test_no_text_becomes_a_tag_or_an_attribute(page):
    found = Tags()
    found.feed(page)
    assert not found.tags & {"script", "img", "iframe", "object", "embed", "link", "base", "form"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "autofocus"]
    links = [value for name, value in found.attributes if name in ("href", "src", "xlink:href")]
    assert links and all(value.startswith(("#", "data:", "tables/")) for value in links)
    names = [value for name, value in found.attributes if name == "download"]
    assert names and all(re.fullmatch(r"[\w.-]+", value) for value in names)
    assert "&lt;script&gt;" in page and r"$\frac{$" not in re.findall("<title>.*?</title>", page)


@pytest.mark.slow
def test_a_browser_runs_nothing_of_it(page, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    file = tmp_path / "report.html"
    file.write_text(page)
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page()
        asked = []
        shown.on("request", lambda request: asked.append(request.url))
        shown.on("dialog", lambda dialog: asked.append(dialog.message))
        shown.goto(file.as_uri())
        assert shown.title() == HOSTILE[3] and asked == [file.as_uri()]
        assert shown.locator("script").count() == 0
        browser.close()
