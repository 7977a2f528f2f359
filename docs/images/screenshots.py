"""Take the pictures of report, replay and studio: `make demo`, then `python docs/images/screenshots.py`.

Needs Chromium, Playwright and, for the animation, Pillow (`pip install playwright pillow`).
Names of pictures as arguments take only these.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from tests.chromium import CHROMIUM, FLAGS  # noqa: E402

DEMO = ROOT / "out" / "demo"
SEED = 4
"The typical seed of the demo."
EVENT = "0/771"
"An event of the demo under CBR: eleven of twelve subscribers receive it, one loses it to a collision."
SPREADING = 64
"Number of pictures of the event's way, at equal steps of the replay's clock."
BETWEEN, BEFORE_CAUSE, CAUSE = 75, 900, 3600
"Durations of such a picture, of the last one, and of the one with the cause of the loss [ms]."

LOST = """async () => {
  const row = replay.run.countedLosses()[0], { event, node } = replay.run.loss(row);
  await replay.chooseEvent(event, node);
}"""
"Opens the first loss after the warm-up."

CHOSEN = """async ([name, node]) => {
  const event = replay.run.eventNumber(name);
  await replay.chooseEvent(event, node);
  const { lost, end } = replay.chosen[0];
  return [[...lost.keys()], replay.run.publications.time[event], end];
}"""
"Opens an event and a node; returns who lost the event, and when it was published and was last received [s]."
SHOWN = """t => { replay.state.t = t; replay.draw(); replay.drawPanel(); }"""


def main(chosen: list[str]) -> None:
    """Write the chosen pictures, by default all."""
    from playwright.sync_api import sync_playwright

    made = {"report": report, "replay": replay, "animation": animation, "studio": studio}
    with TemporaryDirectory() as folder, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in chosen or made:
            made[name](browser, Path(folder))
        browser.close()


def report(browser: Any, folder: Path) -> None:
    """Take the upper part of the demo's report."""
    page = browser.new_page(viewport={"width": 1200, "height": 1160})
    page.goto((DEMO / "report.html").as_uri())
    page.screenshot(path=HERE / "report.png")
    page.close()


def replay(browser: Any, folder: Path) -> None:
    """Take a lost event under CBR, and CBR and FT-CBR side by side."""
    for protocols, name in (("cbr", "replay.png"), ("cbr,ft-cbr", "replay-two.png")):
        page = _open(browser, _write(folder, protocols), 1360, 850)
        page.evaluate(LOST)
        page.wait_for_timeout(500)
        page.screenshot(path=HERE / name)
        page.close()


def animation(browser: Any, folder: Path) -> None:
    """Take the way of one event under CBR, and why one node did not receive it, as an animated picture."""
    from PIL import Image

    page = _open(browser, _write(folder, "cbr"), 1100, 760)
    (loser,), published, end = page.evaluate(CHOSEN, [EVENT, -1])
    page.evaluate("replay.setSpeed(0.03)")
    clip = _area(page, ".stage", ".deck", ".side")
    pictures = []

    def take(moment: float) -> None:
        page.evaluate(SHOWN, moment)
        taken = page.screenshot(clip=clip)
        pictures.append(Image.open(io.BytesIO(taken)).convert("RGB"))

    for number in range(SPREADING):
        take(published + (end - published) * number / (SPREADING - 1))
    page.evaluate(CHOSEN, [EVENT, loser])
    take(end)
    page.close()
    first, *rest = pictures
    durations = [BETWEEN] * (SPREADING - 1) + [BEFORE_CAUSE, CAUSE]
    first.save(
        HERE / "replay.webp",
        save_all=True,
        append_images=rest,
        duration=durations,
        loop=0,
        quality=70,
        method=6,
    )


def _area(page: Any, *selectors: str) -> dict[str, float]:
    """Return the smallest rectangle around some elements, as a clip of a screenshot."""
    boxes = [page.locator(each).bounding_box() for each in selectors]
    left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = page.locator(".deck").bounding_box()
    return {"x": left, "y": top, "width": right - left, "height": bottom["y"] + bottom["height"] - top}


def studio(browser: Any, folder: Path) -> None:
    """Take the editor with map and prediction, and a lost event that was opened from its cause."""
    with _serve() as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(address)
        page.wait_for_selector("h1")
        page.evaluate("document.getElementById('folder').hidden = true")  # a path of this machine
        start = address.partition("#")[0]
        page.goto(f"{start}#/world?id=shipped%2Foffice")
        page.wait_for_selector(".predicted")
        page.screenshot(path=HERE / "studio.png")
        page.goto(f"{start}#/result?id=demo&tab=why")
        page.locator(".watch").first.click()
        page.frame_locator("iframe").locator("#panel .verdict").wait_for()
        page.wait_for_timeout(1000)
        page.screenshot(path=HERE / "studio-replay.png")
        page.close()


@contextmanager
def _serve() -> Iterator[str]:
    """Serve the folder of the demo; yield the address with its token."""
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", "studio", str(DEMO.parent)]
    env = os.environ | {"COLUMNS": "200"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def _write(folder: Path, protocols: str) -> Path:
    """Simulate protocols in the shopping district and return the file of their replay."""
    from roamcast.replay.recording import Recording
    from roamcast.replay.viewer import make_viewer
    from roamcast.scenario.read import load
    from roamcast.scenario.shipped import locate
    from roamcast.sim.run import simulate

    file = folder / f"{protocols}.html"
    if file.exists():
        return file
    world = load(locate("shopping"))
    names = protocols.split(",")
    file.write_text(make_viewer([Recording(simulate(world, name, SEED), name) for name in names]))
    return file


def _open(browser: Any, file: Path, width: int, height: int) -> Any:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    return page


if __name__ == "__main__":
    main(sys.argv[1:])
