// A chart of two columns of rows: lines or dots over numbers, bars over words; a third column separates series.

import { h, newId, put, s } from "./dom.js";
import { colour, number } from "./format.js";

const WIDTH = 640, HEIGHT = 280, LEFT = 64, BOTTOM = 34, TOP = 12;

/** Returns a chart with controls; nothing if no column has numbers. */
export function chart(rows, names) {
  const numeric = names.filter((name) => rows.every((row) => row[name] === null || typeof row[name] === "number"));
  if (!numeric.length || rows.length < 2) return null;
  const holder = h("div", {});
  const distinct = (name) => new Set(rows.map((row) => row[name])).size;
  const words = names.filter((name) => !numeric.includes(name));
  const series = words.find((name) => distinct(name) <= 8) ?? "";
  const pick = (label, options, value) => {
    const id = newId("chart");
    const input = h("select", { id, onchange: draw }, options.map((each) => h("option", { value: each }, each || "none")));
    input.value = value;
    return [input, h("span", { class: "row" }, h("label", { for: id }, label), input)];
  };
  const last = numeric.at(-1);
  const axis = names.find((name) => name !== last && name !== series) ?? names[0];
  const [x, xBox] = pick("x", names, axis);
  const [y, yBox] = pick("y", numeric, last);
  const [by, byBox] = pick("series", ["", ...names], series);

  function draw() {
    put(holder, picture(rows, x.value, y.value, by.value, numeric.includes(x.value)));
  }
  draw();
  return h("figure", { class: "card pad chart" }, h("div", { class: "row tools" }, xBox, yBox, byBox), holder);
}

function picture(rows, x, y, by, isNumber) {
  const known = rows.filter((row) => row[y] !== null && row[x] !== null);
  const groups = [...new Set(known.map((row) => (by ? String(row[by]) : "")))].slice(0, 8);
  const top = Math.max(...known.map((row) => row[y]), 0) || 1;
  const low = Math.min(...known.map((row) => row[y]), 0);
  const up = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (top - low));
  const root = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", "aria-label": `${y} over ${x}` });
  for (const share of [0, 0.5, 1]) {
    const value = low + share * (top - low);
    root.append(s("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: up(value), y2: up(value) }), s("text", { class: "tick y", x: LEFT - 6, y: up(value) + 4 }, number(value)));
  }
  const draw = isNumber ? lines : bars;
  draw(root, known, { x, y, by, groups, up, low });
  const legend = groups.length > 1 ? h("p", { class: "legend" }, groups.map((name, index) => h("span", { class: colour(index) }, h("i", {}), name))) : null;
  return [root, legend];
}

function lines(root, rows, { x, y, by, groups, up }) {
  const values = rows.map((row) => row[x]);
  const first = Math.min(...values), end = Math.max(...values);
  const along = (value) => LEFT + 8 + (WIDTH - LEFT - 24) * (end === first ? 0.5 : (value - first) / (end - first));
  for (const value of [first, (first + end) / 2, end]) root.append(s("text", { class: "tick", x: along(value), y: HEIGHT - 12 }, number(value)));
  groups.forEach((group, index) => {
    const own = rows.filter((row) => !by || String(row[by]) === group).sort((a, b) => a[x] - b[x]);
    const once = new Set(own.map((row) => row[x])).size === own.length;
    if (once) root.append(s("polyline", { class: `line ${colour(index)}`, points: own.map((row) => `${along(row[x])},${up(row[y])}`).join(" ") }));
    if (!once || own.length < 80) own.forEach((row) => root.append(s("circle", { class: `dot ${colour(index)}`, cx: along(row[x]), cy: up(row[y]), r: 3 }, s("title", {}, `${row[x]}: ${row[y]}`))));
  });
}

function bars(root, rows, { x, y, by, groups, up, low }) {
  const places = [...new Set(rows.map((row) => String(row[x])))].slice(0, 40);
  const step = (WIDTH - LEFT - 16) / places.length;
  const wide = (0.8 * step) / groups.length;
  places.forEach((place, number) => {
    const left = LEFT + 8 + step * number;
    root.append(s("text", { class: "tick", x: left + 0.4 * step, y: HEIGHT - 12 }, place.length * 7 > step ? `${place.slice(0, Math.max(1, Math.floor(step / 8)))}…` : place));
    groups.forEach((group, index) => {
      const row = rows.find((each) => String(each[x]) === place && (!by || String(each[by]) === group));
      if (row) root.append(s("rect", { class: `column ${colour(index)}`, x: left + wide * index, width: wide, y: up(Math.max(row[y], 0)), height: Math.abs(up(row[y]) - up(Math.max(low, 0))), rx: 1 }, s("title", {}, `${place}: ${row[y]}`)));
    });
  });
}
