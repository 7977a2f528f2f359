// The map of one run: ground, nodes, frames, drops and the journey of the chosen event at one moment.

import { nameColour, scaleColour } from "./colours.js";
import { Layer, stampDot, stampText } from "./sprites.js";
import { arrow, drawStructure, drawTree } from "./structure.js";

const UNKNOWN_RANGE = 0.06; // of the map's width: the circle of a frame if the radio range is not known
const SHOWN = 0.45; // seconds on the screen for which a frame is shown
const MOST_RINGS = 72;
const MOST_FILLED = 8;
const MOST_SENSE = 3;
const MOST_STRONG = 12; // frames drawn at full strength: the others, which are older, are fainter and without the nodes in range
const LEVELS = 6; // strengths at which circles of one colour are drawn together
const TRAIL = 60; // s
const LINK_LOSSES = new Set(["collided", "captured", "weak", "deaf"]);

/** How long a frame stays visible, in simulated seconds. */
export function shownFor(airtime, speed) {
  return Math.max(airtime, SHOWN * speed);
}

/** Draws a run at `state.t`. `chosen`: { event, steps, wants, lost, got } of the run, or null; `recent`: ways of events. */
export function drawMap(pen, view, run, air, state, chosen, recent, colours) {
  const [width, height] = view.size;
  const ground = (run.groundLayer ??= new Layer());
  ground.show(pen, width, height, `${view.centre} ${view.zoom} ${colours.ground}`, (own) => {
    own.fillStyle = colours.outside;
    own.fillRect(0, 0, width, height);
    drawGround(own, view, run, colours);
  });
  drawStructure(pen, view, run, state, recent, colours);
  drawTrails(pen, view, run, state, colours);
  if (chosen) drawTree(pen, view, run, state, chosen, colours);
  drawFrames(pen, view, run, air, state, colours);
  drawNodes(pen, view, run, state, chosen, colours);
  drawDrops(pen, view, run, air, state, colours);
  if (run.ground.placed) drawScale(pen, view, colours);
}

function drawGround(pen, view, run, colours) {
  const { area, zones, hubs, groups } = run.ground;
  const box = (x, y, w, h) => pen.rect(view.x(x), view.y(y + h), w * view.scale, h * view.scale);
  const fill = (colour, ...where) => { pen.beginPath(); box(...where); pen.fillStyle = colour; pen.fill(); };
  fill(colours.ground, 0, 0, ...area);
  for (const group of groups) if (group.home) fill(colours.home, ...group.home);
  for (const [x, y, side] of hubs) fill(colours.hub, x, y, side, side);
  pen.lineWidth = 1;
  pen.strokeStyle = colours.line;
  pen.beginPath();
  if (zones) {
    for (let i = 1; i < zones.columns; i++) { pen.moveTo(view.x(i * zones.side), view.y(0)); pen.lineTo(view.x(i * zones.side), view.y(area[1])); }
    for (let i = 1; i < zones.rows; i++) { pen.moveTo(view.x(0), view.y(i * zones.side)); pen.lineTo(view.x(area[0]), view.y(i * zones.side)); }
  }
  box(0, 0, ...area);
  for (const [x, y, side] of hubs) box(x, y, side, side);
  pen.stroke();
  drawBuildings(pen, view, run.ground.buildings, colours);
  if (!zones || zones.side * view.scale < 26) return;
  pen.fillStyle = colours.zone;
  pen.font = `600 ${Math.min(15, zones.side * view.scale * 0.2)}px system-ui, sans-serif`;
  pen.textAlign = "left";
  pen.textBaseline = "top";
  for (let zone = 0; zone < zones.columns * zones.rows; zone++) {
    const column = zone % zones.columns, row = Math.floor(zone / zones.columns);
    pen.fillText(`zone ${zone + 1}`, view.x(column * zones.side) + 7, view.y(Math.min((row + 1) * zones.side, area[1])) + 6);
  }
}

/** Draws the obstacles to signals: polygons with their courtyards left open. */
function drawBuildings(pen, view, buildings, colours) {
  if (!buildings.length) return;
  pen.beginPath();
  for (const ring of buildings.flat()) {
    ring.forEach(([x, y], i) => (i ? pen.lineTo(view.x(x), view.y(y)) : pen.moveTo(view.x(x), view.y(y))));
    pen.closePath();
  }
  pen.fillStyle = colours.building;
  pen.fill("evenodd");
  pen.strokeStyle = colours.wall;
  pen.lineWidth = 1.5;
  pen.stroke();
}

function drawTrails(pen, view, run, state, colours) {
  const all = state.layers.trails && run.nodes <= 500;
  const nodes = all ? Array.from({ length: run.nodes }, (_, node) => node) : state.node >= 0 && state.node < run.nodes ? [state.node] : [];
  for (const node of nodes) {
    const places = run.trail(node, Math.max(state.t - TRAIL, 0), state.t);
    pen.beginPath();
    for (let i = 0; i < places.length; i += 2) pen.lineTo(view.x(places[i]), view.y(places[i + 1]));
    pen.strokeStyle = colours.groups[run.group[node] % colours.groups.length];
    pen.globalAlpha = node === state.node ? 0.8 : 0.35;
    pen.lineWidth = node === state.node ? 2.5 : 1.5;
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

/** Returns the frames that are visible now, the oldest first. */
export function visibleFrames(run, air, state, most = MOST_RINGS) {
  const found = [];
  const span = shownFor(0.02, state.speed);
  air.frames(state.t - span, state.t, (frames, i) => {
    const category = run.messages[frames.message[i]][0];
    if (!state.categories.has(category)) return;
    const share = (state.t - frames.time[i]) / shownFor(frames.airtime[i], state.speed);
    if (share < 1) found.push({ frames, i, share, category });
  });
  return found.length > most ? found.slice(-most) : found;
}

function drawFrames(pen, view, run, air, state, colours) {
  const visible = visibleFrames(run, air, state);
  const { range, sense, area } = run.ground;
  const circle = range ?? UNKNOWN_RANGE * area[0];
  const batches = new Map(), heard = new Map(), unicasts = [];
  visible.forEach(({ frames, i, share, category }, order) => {
    const node = frames.node[i], to = frames.to[i] - 1;
    const [x, y] = [view.x(run.x[node]), view.y(run.y[node])];
    const other = state.event >= 0 && frames.event[i] - 1 !== state.event;
    const left = visible.length - order;
    const strength = (1 - share) * (other ? 0.16 : 1) * Math.min(1, MOST_STRONG / left);
    const grown = state.still ? 1 : 1 - (1 - Math.min(share * 1.5, 1)) ** 2;
    const colour = colours[category] ?? colours.routing;
    if (state.layers.range) {
      const level = Math.max(Math.round(strength * LEVELS), 1);
      const key = `${colour} ${level}`;
      if (!batches.has(key)) batches.set(key, { colour, alpha: (0.8 * level) / LEVELS, circles: [] });
      batches.get(key).circles.push(x, y, Math.max(circle * view.scale * grown, 0));
      if (left <= MOST_FILLED && !other) disc(pen, x, y, circle * view.scale * grown, colour, 0.07 * strength);
    }
    if (sense && state.layers.sense && left <= MOST_SENSE && !other) {
      pen.strokeStyle = colour;
      pen.lineWidth = 1;
      ring(pen, x, y, sense * view.scale * grown, 0.3 * strength);
    }
    if (to >= 0 && to < run.nodes) unicasts.push([frames, i, [x, y], to, strength, colour]);
    else if (state.layers.receptions && range !== null && !other && left <= MOST_STRONG) hear(run, state, node, range, strength, colour, heard);
  });
  pen.lineWidth = 1.6;
  for (const { colour, alpha, circles } of batches.values()) {
    pen.strokeStyle = colour;
    pen.globalAlpha = alpha;
    pen.beginPath();
    for (let i = 0; i < circles.length; i += 3) {
      pen.moveTo(circles[i] + circles[i + 2], circles[i + 1]);
      pen.arc(circles[i], circles[i + 1], circles[i + 2], 0, 2 * Math.PI);
    }
    pen.stroke();
  }
  const radius = radiusOf(run, view) + 5;
  for (const [node, { strength, colour }] of heard) {
    pen.globalAlpha = 0.45 * strength;
    stampDot(pen, view.x(run.x[node]), view.y(run.y[node]), radius, colour, colour);
  }
  for (const unicast of unicasts) drawUnicast(pen, view, run, ...unicast, colours);
  pen.globalAlpha = 1;
}

function disc(pen, x, y, radius, colour, alpha) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, Math.max(radius, 0), 0, 2 * Math.PI);
  pen.fill();
}

/** Notes the nodes in range of a broadcast: those that could receive it, as far as movement tells. */
function hear(run, state, node, range, strength, colour, heard) {
  for (let each = 0; each < run.nodes; each++) {
    const dx = run.x[each] - run.x[node], dy = run.y[each] - run.y[node];
    if (each === node || dx * dx + dy * dy > range * range || run.off(each, state.t)) continue;
    if (!(heard.get(each)?.strength >= strength)) heard.set(each, { strength, colour });
  }
}

function ring(pen, x, y, radius, alpha) {
  pen.globalAlpha = alpha;
  pen.beginPath();
  pen.arc(x, y, Math.max(radius, 0), 0, 2 * Math.PI);
  pen.stroke();
}

function drawUnicast(pen, view, run, frames, i, [x, y], to, strength, colour, colours) {
  const [x1, y1] = [view.x(run.x[to]), view.y(run.y[to])];
  pen.strokeStyle = pen.fillStyle = frames.failed[i] ? colours.lost : colour;
  pen.globalAlpha = Math.min(1, strength * 1.6);
  pen.lineWidth = 2;
  pen.setLineDash(frames.failed[i] ? [4, 4] : []);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x1, y1);
  pen.stroke();
  pen.setLineDash([]);
  arrow(pen, x, y, x1, y1, 8);
  if (frames.failed[i]) cross(pen, (x + x1) / 2, (y + y1) / 2, 5);
  if (frames.attempts[i] > 1 && strength > 0.3) text(pen, `${frames.attempts[i]} tries`, (x + x1) / 2 + 8, (y + y1) / 2 - 8, colours, 11);
}

/** Radius of a node [px]. */
export function radiusOf(run, view) {
  return Math.min(Math.max(spacing(run, view) * 0.075, 2.2), 7.5);
}

/** Typical distance of neighbouring nodes [px]. */
function spacing(run, view) {
  return Math.sqrt((run.ground.area[0] * run.ground.area[1]) / run.nodes) * view.scale;
}

function drawNodes(pen, view, run, state, chosen, colours) {
  const radius = radiusOf(run, view);
  const [width, height] = view.size;
  for (let node = 0; node < run.nodes; node++) {
    const x = view.x(run.x[node]), y = view.y(run.y[node]);
    if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
    const colour = run.off(node, state.t) ? colours.off : nodeColour(run, node, state, chosen, colours);
    stampDot(pen, x, y, radius, colour, colours.halo);
  }
  drawMarks(pen, view, run, state, chosen, colours, radius);
  if (state.layers.labels && spacing(run, view) > 46) drawLabels(pen, view, run, state, colours, radius);
}

const LABEL_HEIGHT = 11;

/** Draws the names of nodes; a name that would cover another is left out, that of the chosen node never. */
function drawLabels(pen, view, run, state, colours, radius) {
  const [width, height] = view.size, drawn = [];
  const draw = (node) => {
    const name = run.nodeName(node).replace("node ", ""), x = view.x(run.x[node]) + radius + 3, y = view.y(run.y[node]) - radius;
    const wide = name.length * 7;
    if (x < -wide || y < -LABEL_HEIGHT || x > width || y > height + LABEL_HEIGHT) return;
    if (drawn.some(([left, top, right]) => x < right && x + wide > left && Math.abs(y - top) < LABEL_HEIGHT)) return;
    drawn.push([x, y, x + wide]);
    text(pen, name, x, y, colours, LABEL_HEIGHT);
  };
  if (state.node >= 0 && state.node < run.nodes) draw(state.node);
  for (let node = 0; node < run.nodes; node++) if (node !== state.node) draw(node);
}

/** Draws rings: around publishers, subscribers of the chosen event, nodes that serve others, and the chosen node. */
function drawMarks(pen, view, run, state, chosen, colours, radius) {
  const mark = (node, colour, extra, wide) => {
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    ring(pen, view.x(run.x[node]), view.y(run.y[node]), radius + extra, 1);
  };
  for (let node = 0; node < run.nodes; node++) if (run.publishes[node]) mark(node, colours.ink, 2.5, 1.6);
  if (!chosen && state.colourBy === `state:${run.servedBy}`) {
    const serving = new Set(Array.from({ length: run.nodes }, (_, node) => run.state(run.servedBy, node, state.t)));
    for (const node of serving) if (node >= 0 && node < run.nodes) mark(node, nameColour(node, state.dark), 4.5, 3);
  }
  if (chosen) {
    const lost = state.t >= Math.min(chosen.end, run.duration) ? chosen.lost : new Map(); // until then a subscriber may receive it
    for (const node of chosen.wants) mark(node, lost.has(node) ? colours.lost : colours.wants, 3, 2);
    pen.strokeStyle = colours.lost;
    for (const node of lost.keys()) cross(pen, view.x(run.x[node]), view.y(run.y[node]), radius + 3);
  }
  if (state.node >= 0 && state.node < run.nodes) mark(state.node, colours.ink, 7, 2.2);
}

/** Returns the colour of a node: by the chosen event, else as the view is set. */
export function nodeColour(run, node, state, chosen, colours) {
  if (chosen) {
    const step = chosen.steps.get(node);
    if (node === run.publications.publisher[chosen.event]) return colours.event;
    if (step && step.time <= state.t) return chosen.wants.has(node) ? colours.has : colours.relay;
    return chosen.wants.has(node) ? colours.ground : colours.off;
  }
  if (state.colourBy.startsWith("state:")) {
    const name = state.colourBy.slice(6), value = run.state(name, node, state.t);
    if (value === undefined) return colours.off;
    if (name === run.servedBy) return nameColour(value, state.dark);
    const { low, high } = run.stateRange[name];
    return scaleColour(high > low ? (value - low) / (high - low) : 0.5);
  }
  return colours.groups[run.group[node] % colours.groups.length];
}

function drawDrops(pen, view, run, air, state, colours) {
  if (!state.layers.drops) return;
  const span = shownFor(0.02, state.speed);
  const beside = radiusOf(run, view) + 2;
  let left = 400;
  air.drops(state.t - span, state.t, (drops, i, causes) => {
    if (!left-- || left < 0 || !state.categories.has(run.messages[drops.message[i]][0])) return;
    if (state.event >= 0 && drops.event[i] - 1 !== state.event) return;
    const cause = causes[drops.cause[i]];
    const x = view.x(run.x[drops.node[i]]) - beside, y = view.y(run.y[drops.node[i]]) - beside; // the node stays visible
    pen.globalAlpha = 1 - (state.t - drops.time[i]) / span;
    pen.strokeStyle = pen.fillStyle = LINK_LOSSES.has(cause) ? colours.lost : cause === "queue_full" ? colours.control : colours.faint;
    if (LINK_LOSSES.has(cause)) {
      pen.lineWidth = 2.2;
      cross(pen, x, y, 4.5);
    } else if (cause === "queue_full") {
      pen.fillRect(x - 4, y - 4, 8, 8);
    } else {
      pen.beginPath();
      pen.moveTo(x, y - 4);
      pen.lineTo(x + 4, y + 3.5);
      pen.lineTo(x - 4, y + 3.5);
      pen.fill();
    }
  });
  pen.globalAlpha = 1;
}

function cross(pen, x, y, size) {
  pen.beginPath();
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x + size, y - size);
  pen.lineTo(x - size, y + size);
  pen.stroke();
}

function text(pen, words, x, y, colours, size) {
  stampText(pen, words, x, y, size, colours.faint, colours.halo);
}

function drawScale(pen, view, colours) {
  if (view.size[1] < 180) return; // a small map has no room for it
  const rough = 110 / view.scale, power = 10 ** Math.floor(Math.log10(rough));
  const metres = [5, 2, 1].map((step) => step * power).find((length) => length <= rough) ?? power;
  const wide = metres * view.scale, x = view.size[0] - wide - 14, y = view.size[1] - 12;
  pen.strokeStyle = colours.faint;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x, y - 4);
  pen.lineTo(x, y);
  pen.lineTo(x + wide, y);
  pen.lineTo(x + wide, y - 4);
  pen.stroke();
  const data = metres >= 1000 ? `${metres / 1000} km` : `${metres} m`;
  text(pen, data, x + 4, y - 9, colours, 11);
}
