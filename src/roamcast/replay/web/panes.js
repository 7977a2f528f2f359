// Panes: a map for each run, side by side.

import { describeRate } from "./about.js";
import { find, make } from "./dom.js";
import { radiusOf } from "./map.js";
import { followPointers } from "./view.js";

export const NARROW = 960; // px: a narrower page shows the maps one below the other, as its style does

/** Adds the map of a run to the page; returns its elements. */
export function makePane(replay, run, number) {
  const canvas = make("canvas", { role: "img", tabIndex: 0, "aria-label": `Map of ${run.scenario} under ${run.name}` });
  const swatch = make("span", { className: "swatch" });
  const caption = make("figcaption", {}, swatch, run.name, make("small", {}, describeRate(run)));
  const figure = make("figure", { className: "pane" }, canvas, caption);
  find("panes").append(figure);
  find("panes").className = replay.runs.length === 1 ? "one" : "";
  followPointers(canvas, replay.view, (dragged) => { if (dragged) replay.state.follow = false; replay.dirty = true; }, (px, py) => tap(replay, number, px, py));
  canvas.addEventListener("dblclick", () => { replay.activate(number); replay.state.only = !replay.state.only; replay.changed(); });
  return { canvas, figure, swatch };
}

/** Chooses the node at a place of the screen. */
function tap(replay, number, px, py) {
  const run = replay.runs[number], [x, y] = replay.view.place(px, py);
  replay.activate(number);
  let best = -1, nearest = (radiusOf(run, replay.view) + 12) / replay.view.scale;
  for (let node = 0; node < run.nodes; node++) {
    const apart = Math.hypot(run.x[node] - x, run.y[node] - y);
    if (apart < nearest) [best, nearest] = [node, apart];
  }
  replay.chooseNode(best);
}

/** Arranges the maps in as many columns as show them largest; only the active one if asked. */
export function arrange(replay) {
  const { width, height } = find("panes").getBoundingClientRect(), [wide, tall] = replay.run.ground.area;
  const count = replay.state.only ? 1 : replay.runs.length;
  const scale = (columns) => Math.min(width / columns / wide, height / Math.ceil(count / columns) / tall);
  let best = 1;
  if (innerWidth > NARROW) for (let columns = 2; columns <= count; columns++) if (scale(columns) > scale(best)) best = columns;
  for (const [name, value] of [["--columns", best], ["--maps", count], ["--shape", tall / wide]]) find("panes").style.setProperty(name, value);
  replay.panes.forEach(({ figure }, number) => { figure.hidden = replay.state.only && number !== replay.state.active; });
}
