"""Chromium for tests: the browser, and checks that all pages share."""

import shutil
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
]
needs_chromium = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def wait_until(page, expression):
    """Wait until an expression holds; `wait_for_function` would need a policy that allows `eval`."""
    end = time.monotonic() + 20
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never came true: {expression}"
        page.wait_for_timeout(20)


CONTRAST = r"""() => {
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (/^rgb\(/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const speaks = (e) => e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const ratio = (e) => {
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const faint = [...document.body.querySelectorAll("*")].filter((e) => speaks(e) && ratio(e) < 4.5);
  return faint.map((e) => [e.innerText, e.className, ratio(e)]);
}"""
"Returns the texts whose contrast with their background is below 4.5 (WCAG AA)."

NAMELESS = """[...document.querySelectorAll(
    "button, input, select, textarea, a, iframe, canvas, [role=slider], [role=img]"
)].filter((each) => !(each.labels?.length || each.getAttribute("aria-label")
    || each.getAttribute("aria-labelledby") || each.textContent.trim() || each.title
    || each.getAttribute("aria-hidden"))).map((each) => each.outerHTML)"""
"Returns the controls and pictures that a screen reader cannot name."
