// The legend of the map.

import { make } from "./dom.js";
import { hasMesh } from "./structure.js";

export const CATEGORY_NAMES = ["event", "subscription", "routing", "control"];

/** Draws the legend of the map as it is coloured now. */
export function drawLegend(replay) {
  const { colours, state, run } = replay, items = [];
  const sent = new Set(replay.runs.flatMap((each) => each.messages.map(([category]) => category)));
  const add = (words, colour, shape = "", border = "") => items.push(make("li", {}, make("i", { className: shape, style: { "--c": colour, ...(border ? { "--b": border } : {}) } }), words));
  const sign = (words, colour, letter) => items.push(make("li", {}, make("i", { className: "mark", style: { "--c": colour } }, letter), words));
  if (replay.chosen[state.active]) {
    add("publisher", colours.event);
    add("subscriber, received", colours.has);
    add("subscriber, not yet", colours.ground, "", colours.wants);
    sign("subscriber, lost", colours.lost, "✕");
    add("relay", colours.relay);
  } else if (state.colourBy.startsWith("state:")) {
    const name = state.colourBy.slice(6), range = run.stateRange[name];
    if (name === run.servedBy) add(`${name}: one colour each; ring: the node that serves it`, colours.ground, "", colours.groups[0]);
    else if (range) items.push(make("li", {}, String(range.low), make("i", { className: "scale" }), `${range.high} ${name}`));
  } else {
    run.ground.groups.forEach((group, i) => add(`${group.name} (${group.count})`, colours.groups[i % colours.groups.length]));
    add("ring: publisher", colours.ground, "", colours.ink);
  }
  for (const category of CATEGORY_NAMES) if (state.categories.has(category) && sent.has(category)) add(`${category} frame`, colours[category], "wave");
  sign("frame lost", colours.lost, "✕");
  sign("queue full", colours.control, "■");
  sign("dropped by the router", colours.faint, "▲");
  if (state.layers.mesh && hasMesh(run)) add("mesh of forwarders", colours.relay, "line");
  if (state.layers.ways) add("routes of the last events", colours.has, "line");
  if (run.ground.buildings.length) add("building", colours.building, "square", colours.wall);
  if (run.hasOutages) add("down", colours.off);
  document.getElementById("legend").replaceChildren(...items);
}
