"""The report in Chromium: downloads are whole files, paper has the parameters, nothing sticks out."""

import io

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from tests.chromium import CONTRAST, NAMELESS, browser, needs_chromium

__all__ = ["browser"]
pytestmark = needs_chromium


@pytest.fixture
def visit(browser, page, tmp_path):
    """Open the report, which must ask for nothing else and report no error."""
    file = tmp_path / "report.html"
    file.write_text(page)
    contexts = []

    def visit(**settings):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | settings)
        shown = context.new_page()
        problems = []
        shown.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        shown.on("request", lambda asked: problems.append(asked.url) if asked.url != file.as_uri() else None)
        shown.goto(file.as_uri())
        contexts.append((context, problems))
        return shown

    yield visit
    for context, problems in contexts:
        assert [each for each in problems if not each.startswith("data:")] == []
        context.close()


def download(page, name):
    with page.expect_download() as waiting:
        page.locator(f"a[download='{name}']").first.click()
    return waiting.value.path().read_bytes()


def test_figures_and_tables_are_downloaded_as_files(visit, result):
    page = visit(accept_downloads=True)
    assert download(page, "one-delivery_rate.pdf").startswith(b"%PDF")
    assert b"<svg" in download(page, "one-delay_mean.svg")
    summary = result.store.read_table("summary")
    assert pq.read_table(io.BytesIO(download(page, "summary.parquet"))).equals(summary)
    rows = csv.read_csv(io.BytesIO(download(page, "summary.csv")))
    assert rows.num_rows == summary.num_rows and rows.column_names == summary.column_names
    seeds = pq.read_table(io.BytesIO(download(page, "seeds.parquet")))
    assert {"seed", "protocol", "delivery_rate"} <= set(seeds.column_names)


def test_paper_shows_what_is_folded_on_the_screen(visit):
    page = visit()
    hidden = page.locator("dd details").first
    inside = "e => e.getBoundingClientRect().height"
    folded = hidden.evaluate(inside)
    page.emulate_media(media="print")
    assert hidden.evaluate(inside) > folded + 10
    assert page.locator(".get").first.is_hidden()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")]
)
def test_nothing_sticks_out_and_the_background_follows_the_scheme(visit, width, scheme):
    page = visit(viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_and_links_and_figures_have_names(visit, scheme):
    page = visit(color_scheme=scheme)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []


def test_every_figure_names_both_axes(visit):
    page = visit()
    for panel in page.locator("figure.panel svg").all():
        assert len(panel.locator("text").all()) > 4
    labels = page.locator("figure.panel svg text").all_text_contents()
    assert {"Delivery rate", "Delay (s)", "subscribers"} <= {label.strip() for label in labels}
