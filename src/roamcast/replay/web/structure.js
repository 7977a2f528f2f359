// What connects nodes: links, communities, the mesh of forwarders, and the ways that events took.

import { nameColour } from "./colours.js";
import { pathTo } from "./journey.js";

const MOST_LINKS = 400; // nodes: more are not joined by lines
const FORWARDING = "forwarding_groups"; // ODMRP's state: for how many groups a node forwards

/** Draws the links, hulls, mesh and trees that are chosen, below the nodes. */
export function drawStructure(pen, view, run, state, recent, colours) {
  if (state.layers.links && run.nodes <= MOST_LINKS) drawLinks(pen, view, run, state.t, colours);
  if (state.layers.mesh && run.nodes <= MOST_LINKS) drawMesh(pen, view, run, state.t, colours);
  if (state.layers.ways) for (const steps of recent) drawWays(pen, view, run, steps, colours);
  if (state.colourBy.startsWith("state:")) drawHulls(pen, view, run, state);
}

/** Whether the run's router tells which nodes form a mesh. */
export const hasMesh = (run) => run.states.names.includes(FORWARDING);

/** Returns the links of the mesh: pairs of nodes in range of which at least one forwards, the other too or an end. */
export function findMesh(run, t) {
  const range = run.ground.range, found = [];
  if (range === null) return found;
  const forwards = Array.from({ length: run.nodes }, (_, node) => (run.state(FORWARDING, node, t) ?? 0) > 0 && !run.off(node, t));
  for (let a = 0; a < run.nodes; a++) {
    for (let b = a + 1; b < run.nodes; b++) {
      if (!(forwards[a] && (forwards[b] || run.publishes[b])) && !(forwards[b] && run.publishes[a])) continue;
      if (Math.hypot(run.x[a] - run.x[b], run.y[a] - run.y[b]) <= range) found.push([a, b]);
    }
  }
  return found;
}

function drawMesh(pen, view, run, t, colours) {
  pen.strokeStyle = colours.relay;
  pen.lineWidth = 2;
  pen.globalAlpha = 0.55;
  pen.beginPath();
  for (const [a, b] of findMesh(run, t)) {
    pen.moveTo(view.x(run.x[a]), view.y(run.y[a]));
    pen.lineTo(view.x(run.x[b]), view.y(run.y[b]));
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

/** Draws the way of an event as a faint tree: the routes that a router uses, as far as its events show them. */
function drawWays(pen, view, run, steps, colours) {
  pen.strokeStyle = pen.fillStyle = colours.has;
  pen.globalAlpha = 0.28;
  pen.lineWidth = 1.5;
  for (const step of steps.values()) {
    if (!step.sent) continue;
    const [x0, y0, x1, y1] = [view.x(run.x[step.parent]), view.y(run.y[step.parent]), view.x(run.x[step.node]), view.y(run.y[step.node])];
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    arrow(pen, x0, y0, x1, y1, 6);
  }
  pen.globalAlpha = 1;
}

function drawLinks(pen, view, run, t, colours) {
  const range = run.ground.range;
  if (range === null) return;
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let a = 0; a < run.nodes; a++) {
    if (run.off(a, t)) continue;
    for (let b = a + 1; b < run.nodes; b++) {
      const dx = run.x[a] - run.x[b], dy = run.y[a] - run.y[b];
      if (dx * dx + dy * dy > range * range || run.off(b, t)) continue;
      pen.moveTo(view.x(run.x[a]), view.y(run.y[a]));
      pen.lineTo(view.x(run.x[b]), view.y(run.y[b]));
    }
  }
  pen.stroke();
}

/** Draws the convex hull of nodes that reported the same number, where the number names the node that serves them. */
function drawHulls(pen, view, run, state) {
  const name = state.colourBy.slice(6);
  if (name !== run.servedBy) return;
  const members = new Map();
  for (let node = 0; node < run.nodes; node++) {
    const value = run.state(name, node, state.t);
    if (value === undefined) continue;
    if (!members.has(value)) members.set(value, []);
    members.get(value).push([view.x(run.x[node]), view.y(run.y[node])]);
  }
  pen.lineJoin = "round";
  for (const [value, places] of members) {
    if (places.length < 2) continue;
    const colour = nameColour(value, state.dark);
    const middle = places.reduce(([x, y], place) => [x + place[0] / places.length, y + place[1] / places.length], [0, 0]);
    pen.beginPath();
    for (const [x, y] of hull(places)) {
      const away = Math.hypot(x - middle[0], y - middle[1]) || 1, wider = 1 + 14 / away;
      pen.lineTo(middle[0] + (x - middle[0]) * wider, middle[1] + (y - middle[1]) * wider);
    }
    pen.closePath();
    pen.fillStyle = pen.strokeStyle = colour;
    pen.globalAlpha = 0.1;
    pen.fill();
    pen.globalAlpha = 0.5;
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.globalAlpha = 1;
  }
}

function hull(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (points) => {
    const kept = [];
    for (const p of points) {
      for (let n = kept.length; n > 1; n = kept.length) {
        const [a, b] = [kept[n - 2], kept[n - 1]];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        kept.pop();
      }
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

/** Draws the way of the chosen event so far. */
export function drawTree(pen, view, run, state, { steps }, colours) {
  const path = new Set(state.node >= 0 ? pathTo(steps, state.node) : []);
  for (const step of steps.values()) {
    if (!step.sent || step.sent.time > state.t) continue;
    const [x0, y0, x1, y1] = [view.x(run.x[step.parent]), view.y(run.y[step.parent]), view.x(run.x[step.node]), view.y(run.y[step.node])];
    const onPath = path.has(step.node);
    pen.strokeStyle = pen.fillStyle = colours.has;
    pen.globalAlpha = onPath ? 1 : 0.6;
    pen.lineWidth = onPath ? 3.2 : 1.7;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    arrow(pen, x0, y0, x1, y1, onPath ? 9 : 7);
  }
  pen.globalAlpha = 1;
}

/** Draws the head of an arrow two thirds along a line. */
export function arrow(pen, x0, y0, x1, y1, size) {
  const angle = Math.atan2(y1 - y0, x1 - x0), x = (x0 + 2 * x1) / 3, y = (y0 + 2 * y1) / 3;
  pen.beginPath();
  pen.moveTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
  pen.lineTo(x + size * 0.6 * Math.cos(angle + 2.4), y + size * 0.6 * Math.sin(angle + 2.4));
  pen.lineTo(x + size * 0.6 * Math.cos(angle - 2.4), y + size * 0.6 * Math.sin(angle - 2.4));
  pen.fill();
}
