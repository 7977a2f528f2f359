"""RAFT-CBR's backlog after an outage: seconds to clear what is owed, and the promise on given seeds.

`python -m bench.backlog` switches the shop's radio off for a while in connected movements of the shopping
district and prints how many deliveries were owed when it came back, and when the last of them arrived.
`python -m bench.backlog 1001-1024` plays the seeds and prints what was missed and why, and how many events
were delivered that were published before or after an interest in them. If something waited in the backlog at
the end, the same run is played for 400 s more without new events: a miss is proven to be the
backlog's if it arrives then. `python -m bench.backlog 2001-2012 "10 m/s"` does so at another speed.
"""

import sys
from collections import Counter
from pathlib import Path

from roamcast.scenario.read import load
from roamcast.sim.run import simulate
from roamcast.why.causes import Cause
from roamcast.why.explainer import Explainer
from roamcast.why.trail.trail import Trail

SHOPPING = Path(__file__).parents[1] / "scenarios" / "shopping.toml"
SEEDS = (2201, 2202, 2203)
CONNECTED = 'connected={to="shop", longest="5 s"}'
"Movements in which nobody is cut off from the shop for longer."
OUTAGES = (20, 40, 80, 160, 320)
CUT = 200
LONGER = ('duration="1200 s"', 'quiet="410 s"')


def play(seed: int, *settings: str) -> Trail:
    """Return what RAFT-CBR did in a run."""
    return Trail(simulate(load(SHOPPING, settings), "raft-cbr", seed))


def clear(seed: int, seconds: int) -> tuple[int, float, float]:
    """Return deliveries owed after an outage, seconds until all were made, and all deliveries per second."""
    radio = f'faults.cut={{group="shop", radio={{at=["{CUT} s"], down="{seconds} s"}}}}'
    trail, back = play(seed, radio, CONNECTED, *LONGER), CUT + seconds
    arrived = {
        pair: trail.delivered.get(pair, trail.run.duration)
        for pair in trail.expected
        if trail.published[pair[0]] < back
    }
    owed = [time for time in arrived.values() if time >= back]
    last = max(owed, default=back)
    made = sum(back <= time <= last for time in trail.delivered.values())
    return len(owed), last - back, made / max(last - back, 1e-9)


def describe_false(trail: Trail) -> str:
    """Return how many deliveries were of events published before or after an interest, and the longest time
    between the two [s]."""
    expected, before, after = set(trail.expected), [0.0], [0.0]
    for publication, node in trail.delivered.keys() - expected:
        time = trail.published[publication]
        gaps = [
            (period.since - time, before) if time < period.since else (time - period.until, after)
            for period in trail.subscription_periods[node]
            if trail.matcher.matches(period.wanted, trail.contents[publication])
        ]
        gap, side = min(gaps, key=lambda each: each[0])
        side.append(gap)
    return " | ".join(f"{len(side) - 1} | {max(side):.1f}" for side in (before, after))


def keep(seed: int, speed: str) -> str:
    """Return a row of the table of promises."""
    moving = f'nodes.walkers.speed={{min="0.1 m/s", max="{speed}"}}'
    trail = play(seed, moving)
    explainer = Explainer(trail)
    verdicts = {miss: explainer.explain(*miss) for miss in trail.misses()}
    proven = sum(verdict.proven for verdict in verdicts.values())
    waiting = [miss for miss, verdict in verdicts.items() if verdict.cause is Cause.BACKLOG]
    others = Counter(
        verdict.cause.key
        for verdict in verdicts.values()
        if not verdict.proven and verdict.cause is not Cause.BACKLOG
    )
    later = ""
    if waiting:
        longer = play(seed, moving, *LONGER)
        arrived = [longer.delivered[miss] for miss in waiting if miss in longer.delivered]
        after = max(arrived, default=trail.run.duration) - trail.run.duration
        later = f"{len(arrived)} within {after:.0f} s"
    text = ", ".join(f"{cause} {times}" for cause, times in others.items()) or "0"
    counted = sum(trail.published[publication] >= trail.run.warmup for publication, _ in trail.expected)
    numbers = (seed, counted, len(verdicts), proven, len(waiting), later, text, describe_false(trail))
    return "| " + " | ".join(map(str, numbers)) + " |"


def main() -> None:
    """Print one of the tables."""
    if len(sys.argv) > 1:
        first, _, last = sys.argv[1].partition("-")
        speed = sys.argv[2] if len(sys.argv) > 2 else "1 m/s"
        columns = "seed, expected, missed, proven, backlog, of these arrived later, other causes"
        columns += ", before an interest, longest (s), after one, longest (s)"
        print("| " + columns.replace(", ", " | ") + " |")
        print("|---" * 11 + "|")
        for seed in range(int(first), int(last or first) + 1):
            print(keep(seed, speed), flush=True)
        return
    print("| seed | outage (s) | deliveries owed | seconds to clear | deliveries/s |")
    print("|---|---|---|---|---|")
    for seed in SEEDS:
        for seconds in OUTAGES:
            owed, took, rate = clear(seed, seconds)
            print(f"| {seed} | {seconds} | {owed} | {took:.1f} | {rate:.0f} |", flush=True)


if __name__ == "__main__":
    main()
