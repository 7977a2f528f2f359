// Words about runs: when they begin to be interesting, how much they delivered, what is shown and what is not.

import { make, formatCount } from "./dom.js";

/** Returns a moment at which something happens: the first delivery after the warm-up, else the warm-up's end. */
export function firstMoment(run) {
  return run.first < run.duration ? run.first : Math.min(run.warmup, run.duration);
}

/** Returns the share delivered, or the number of frames, in words. */
export function describeRate(run) {
  const { expected, lost } = run.counted;
  return expected ? `${((100 * (expected - lost)) / expected).toFixed(1)} % delivered` : `${formatCount(run.frames)} frames`;
}

/** Returns what the replay shows and what the facts do not tell. */
export function explain(runs) {
  const unknown = "Positions are not in the facts: nodes are placed by the number of hops between them, and circles have no meaning but that a frame was sent.";
  const lines = [
    ...(runs.every((run) => run.ground.placed) ? [] : [unknown]),
    "Nodes move exactly along the legs in the facts. Circles are frames: they grow to the radio range and, fainter, to the carrier-sense range while the frame is shown; the growth is drawn, not measured.",
    "A unicast and its retries are one row in the facts, at the time of its first frame. RTS, CTS and ACK frames have no rows; they count in the airtime.",
    "Nodes in range of a broadcast are computed from the movement. Losses are recorded for messages that carry events; a copy that a node had already is not recorded.",
    "The length of link queues is not in the facts; drops of full queues are.",
  ];
  const parts = [make("h2", {}, "What is shown")];
  for (const run of runs) parts.push(make("p", {}, `${run.name}: ${run.scenario}, seed ${run.seed}, ${formatCount(run.nodes)} nodes, ${run.duration} s, ${formatCount(run.frames)} transmissions.`));
  return [...parts, make("ul", {}, ...lines.map((line) => make("li", {}, line)))];
}
