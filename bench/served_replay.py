"""A served replay: time to the first picture in Chromium, memory of the server, bytes, time of an event.

`python -m bench.served_replay RUN` with a facts folder or a run of a campaign (DIR/run=ID); needs Playwright
and Chromium. Times depend on who else uses the machine; processor time of the server is printed beside them.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

EVENTS = 8


def read_peak(process: int) -> float:
    """Return the peak resident memory of a process [MB]."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1000


def read_cpu(process: int) -> float:
    """Return the processor time of a process [s]."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(run: str) -> None:
    """Serve a run, open it, and print what that takes."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-c", "from roamcast.cli import main; main()", "replay", run, "--serve"]
    began = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        ready = time.perf_counter() - began
        print(
            f"server ready after {ready:.1f} s ({read_cpu(server.pid):.1f} s of processor time), "
            f"peak {read_peak(server.pid):.0f} MB",
            flush=True,
        )
        with sync_playwright() as running:
            browser = running.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            began = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("html[data-ready=yes]")
            while not page.evaluate("replay.airs[0].ready(replay.state.t - 1, replay.state.t)"):
                page.wait_for_timeout(10)
            page.evaluate("replay.draw()")
            first = time.perf_counter() - began
            frames, pieces, events = page.evaluate(
                "[replay.run.frames, replay.airs[0].pieces.length, replay.run.events]"
            )
            print(f"{frames:,} transmissions, {pieces} pieces; first picture {first:.1f} s after that")
            sent = len(urlopen(f"{address}runs").read()) / 1e6
            draw = random.Random(1)
            sizes = [
                len(urlopen(f"{address}piece?run=0&piece={draw.randrange(pieces)}").read()) / 1e3
                for _ in range(EVENTS)
            ]
            print(f"at first {sent:.2f} MB; a piece {min(sizes):.0f} to {max(sizes):.0f} kB")
            lost = page.evaluate(
                "(most) => [...Array(replay.run.events).keys()].filter((each) => replay.run.lostBy(each) > 0)"
                ".filter((each, i, all) => i % Math.ceil(all.length / most) === 0)",
                EVENTS,
            )
            for event in lost:
                before, began = read_cpu(server.pid), time.perf_counter()
                page.evaluate("(event) => replay.chooseEvent(event)", event)
                spent = read_cpu(server.pid) - before
                shown = page.evaluate("[replay.chosen[0].lost.size, replay.chosen[0].untold]")
                print(
                    f"event {event}: {time.perf_counter() - began:.2f} s ({spent:.2f} s of processor time), "
                    f"{shown[0]} losses explained {shown[1]}"
                )
            print(f"{events:,} events; peak of the server {read_peak(server.pid):.0f} MB")
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main(sys.argv[1])
