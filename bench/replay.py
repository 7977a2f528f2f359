"""Replay files in Chromium: size, time to open, drawings as a share of an empty animation's, and CPU time.

`python -m bench.replay`; needs Playwright and Chromium. The empty animation runs in the same browser just
before each replay. It needs hardly any CPU, so on a loaded machine the shares fall; the CPU time of a drawing
stays.
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
  const drawn = replay.drawn - before, rate = drawn / (performance.now() - began) * 1000;
  replay.play(false);
  return [rate, drawn];
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
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _main_thread(session)
    rate, drawn = page.evaluate(PLAYED, SECONDS)
    drawing = 1000 * (_main_thread(session) - before) / max(drawn, 1)
    page.close()
    size = file.stat().st_size / 1e6
    print(
        f"{name:22} {sent:7,} transmissions, {size:5.2f} MB, opens in {opened:4.2f} s,"
        f" draws {rate:4.1f} a second of {empty:4.1f}"
        f" ({rate / empty:4.0%}), {drawing:4.1f} ms of the main thread's CPU a drawing",
        flush=True,
    )


def _main_thread(session: Any) -> float:
    """Return the CPU time that the page's main thread has used [s]."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


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
