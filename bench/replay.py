"""Replay files in Chromium: size, time to open, and frames drawn a second as a share of an empty animation.

`python -m bench.replay`; needs Playwright and Chromium. The empty animation runs in the same browser just
before each replay, so that the shares hardly depend on who else uses the machine.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from roamcast.replay.recording import Recording
from roamcast.replay.viewer import make_viewer
from roamcast.scenario.read import load
from roamcast.scenario.shipped import locate
from roamcast.sim.run import simulate

SECONDS = 3

FIELD = """
name = "field"
duration = "12 s"
area = {{ width = "{side} m", height = "{side} m" }}
[nodes.all]
count = {count}
mobility = "waypoint"
speed = {{ min = "1 m/s", max = "10 m/s" }}
[workload.publish.all]
count = {publishers}
every = "{every} s"
content = {{ type = "news" }}
[workload.subscribe.all]
count = {count}
interest = ["/news"]
"""

EMPTY = """async (seconds) => {
  let drawn = 0, on = true;
  const began = performance.now();
  const tick = () => { drawn++; if (on) requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  await new Promise((done) => setTimeout(done, seconds * 1000));
  on = false;
  return drawn / (performance.now() - began) * 1000;
}"""

PLAYED = """async (seconds) => {
  replay.setSpeed(1);
  replay.play(true);
  const before = replay.drawn, began = performance.now();
  await new Promise((done) => setTimeout(done, seconds * 1000));
  const rate = (replay.drawn - before) / (performance.now() - began) * 1000;
  replay.play(false);
  const start = performance.now();
  for (let i = 0; i < 50; i++) replay.draw();
  return [rate, (performance.now() - start) / 50];
}"""


def measure(browser: Any, name: str, file: Path, sent: int) -> None:
    """Print what one file takes."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto("about:blank")
    empty = page.evaluate(EMPTY, SECONDS)
    began = time.perf_counter()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    opened = time.perf_counter() - began
    rate, drawing = page.evaluate(PLAYED, SECONDS)
    page.close()
    size = file.stat().st_size / 1e6
    print(
        f"{name:22} {sent:7,} transmissions, {size:5.2f} MB, opens in {opened:4.2f} s,"
        f" draws {rate:4.1f} a second of {empty:4.1f}"
        f" ({rate / empty:4.0%}), {drawing:4.1f} ms a drawing",
        flush=True,
    )


def main() -> None:
    """Measure the demo's largest run and fields of 200 and 2,000 nodes."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("needs Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        cases = {"shopping, raft-cbr": (load(locate("shopping")), "raft-cbr")}
        for count in (200, 2000):
            for load_name, publishers, every in (("light", 1, 2), ("heavy", 20, 0.5)):
                scenario = Path(folder) / f"field-{count}-{load_name}.toml"
                side = round(100 * count**0.5)
                scenario.write_text(FIELD.format(count=count, side=side, publishers=publishers, every=every))
                cases[f"{count} nodes, {load_name}"] = (load(scenario), "flooding")
        for name, (world, protocol) in cases.items():
            file = Path(folder) / "replay.html"
            recording = Recording(simulate(world, protocol, 1))
            file.write_text(make_viewer([recording]))
            measure(browser, name, file, recording.frames)
        browser.close()


if __name__ == "__main__":
    main()
