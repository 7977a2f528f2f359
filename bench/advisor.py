"""What the advisor costs: processor time per run and per training, and the time of an answer.

`python -m bench.advisor`. The training is that of the shipped table with the kind of model that is shipped;
its processor time includes Spark. The best of three answers counts, as the machine may be busy.
"""

import resource
import subprocess
import sys
import tempfile
import time

from roamcast.advisor.card import RUNS
from roamcast.advisor.drawing.draw import LONG, draw_world
from roamcast.advisor.model import shipped_model
from roamcast.metrics.declarations import evaluate
from roamcast.metrics.run_metrics import metric_input
from roamcast.pipeline.training.world_runs import RUN_METRICS
from roamcast.routing.catalogue import find, working
from roamcast.sim.run import simulate

WORLDS = 6
"Random worlds of each length that are run with all protocols."

ANSWER_GOAL = 2.0
"Longest time of an answer [s]."


def cost_of_runs(first: int) -> tuple[int, float]:
    """Run some worlds as `roamcast advisor data` does; return number and processor time [s]."""
    runs, began = 0, time.process_time()
    for world in range(first, first + WORLDS):
        scenario = draw_world(world)
        for protocol in working()[0]:
            if scenario.location or not find(protocol).needs_location:
                evaluate(metric_input(simulate(scenario, protocol, world)), RUN_METRICS)
                runs += 1
    return runs, time.process_time() - began


def cost_of_command(*words: str) -> tuple[float, float]:
    """Return the time and the processor time of a command of Roamcast and all that it starts [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=3600)
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print all costs."""
    for name, first in (("short", 1), ("long", LONG)):
        runs, spent = cost_of_runs(first)
        print(f"{name} worlds: {runs} runs, {1000 * spent / runs:.0f} ms of CPU each")
    facts = shipped_model().facts
    kinds = ["--model", facts["model"], "--ranking", facts["ranking"]]
    with tempfile.TemporaryDirectory() as folder:
        took, spent = cost_of_command("advisor", "train", str(RUNS), "--out", folder, *kinds)
    print(f"training, {facts['model']}: {spent:.0f} s of CPU, {took:.0f} s")
    took, spent = min(cost_of_command("advise", "shopping") for _ in range(3))
    print(f"advise shopping: {took:.2f} s (goal {ANSWER_GOAL:g}), {spent:.2f} s of CPU")


if __name__ == "__main__":
    main()
