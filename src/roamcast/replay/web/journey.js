// The journey of an event: from which transmission each node had it, as far as movement and losses tell.
// The rules are those of roamcast.why.presentation.explanation.way; tests compare the two.

const FRAME_LOSSES = new Set(["collided", "captured", "weak", "deaf"]);
const FRAME_TIME = 0.02; // s: a loss is noted when the frame ends, less than this after it was sent
const EDGE = 1e-6; // m: who is nearer to the range's edge than this counts as in range
const HOPS = 64;

/** Returns a map from each node that had the event to its step: { node, parent, sent, time, delivered }. */
export function findJourney(run, event, passage) {
  const copies = passage.copies.filter((copy) => run.carries[copy.message]); // not what acknowledges it
  const drops = passage.drops.filter((drop) => run.carries[drop.message]);
  const losses = drops.filter((drop) => FRAME_LOSSES.has(drop.cause));
  const got = new Map(passage.got);
  const publisher = run.publications.publisher[event];
  const steps = new Map([[publisher, { node: publisher, parent: -1, sent: null, time: run.publications.time[event], delivered: got.get(publisher) }]]);
  const firstSent = new Map();
  for (const copy of copies) if (!firstSent.has(copy.node)) firstSent.set(copy.node, copy.time);
  const until = (node) => got.get(node) ?? firstSent.get(node);
  const find = (node, time) => {
    const heard = copies.filter((copy) => copy.time <= time && hears(run, node, copy, losses));
    if (!heard.length) return null;
    const last = heard[heard.length - 1];
    return last.to === node ? last : heard[0];
  };
  const pending = [...new Set([...got.keys(), ...firstSent.keys()])].sort((a, b) => until(a) - until(b));
  for (const node of pending) {
    for (let at = node, time = until(node), hops = 0; !steps.has(at) && hops < HOPS; hops++) {
      const sent = find(at, time);
      const arrived = sent ? sent.time + sent.airtime : time;
      steps.set(at, { node: at, parent: sent ? sent.node : -1, sent, time: Math.min(got.get(at) ?? arrived, arrived), delivered: got.get(at) });
      if (!sent) break;
      at = sent.node;
      time = sent.time;
    }
  }
  return steps;
}

/** Returns an event for the map and the panel: its journey, who wanted it, got it and lost it; null if there is none. */
export async function followEvent(run, air, event) {
  if (event < 0) return null;
  const passage = await air.passage(event);
  const steps = findJourney(run, event, passage), published = run.publications.time[event];
  const last = Math.max(published, ...passage.copies.map((copy) => copy.time + copy.airtime), ...[...steps.values()].map((step) => step.time));
  const lost = new Map(passage.losses.map((loss) => [loss.node, loss]));
  return { event, steps, wants: new Set(passage.wants), lost, got: new Map(passage.got), unavailable: passage.unavailable, end: Math.min(last, published + 60) + 1e-4 };
}

/** Returns the nodes from the publisher to `node` by the steps of a journey. */
export function pathTo(steps, node) {
  const path = [];
  for (let at = node; at >= 0 && steps.has(at) && !path.includes(at); at = steps.get(at).parent) path.unshift(at);
  return path;
}

/** Returns the steps in the order of a tree: each after its parent, children by time; with their depth. */
export function orderTree(steps) {
  const children = new Map();
  for (const step of steps.values()) {
    const known = steps.has(step.parent) && step.parent !== step.node;
    const key = known ? step.parent : -1;
    if (!children.has(key)) children.set(key, []);
    children.get(key).push(step);
  }
  const rows = [], seen = new Set();
  const visit = (step, depth) => {
    if (seen.has(step.node)) return;
    seen.add(step.node);
    rows.push({ ...step, depth });
    for (const child of (children.get(step.node) ?? []).sort((a, b) => a.time - b.time)) visit(child, depth + 1);
  };
  for (const step of (children.get(-1) ?? []).sort((a, b) => a.time - b.time)) visit(step, 0);
  for (const step of steps.values()) visit(step, 0);
  return rows;
}

function hears(run, node, copy, losses) {
  if (copy.failed || copy.node === node) return false;
  if (copy.to >= 0) return copy.to === node;
  if (run.ground.range === null || run.distance(node, copy.node, copy.time) > run.ground.range + EDGE) return false;
  return !losses.some((lost) => lost.node === node && lost.peer === copy.node && lost.time >= copy.time && lost.time - copy.time < FRAME_TIME);
}
