// Predictions of the advisor beside a scenario: they follow its text, and sliders change its main numbers.

import { post } from "./api.js";
import { h, later, newId, put, s } from "./dom.js";
import { number } from "./format.js";

const FEW = 5; // protocols shown at first
const MOST_SLIDERS = 8;
const SPAN = 4; // a slider reaches from a quarter of a value to four times the value
const STEPS = 100;
const SLIDERS = [/^nodes\.[^.]+\.count$/, /^radio\.range$/, /^workload\.publish\.[^.]+\.every$/, /^workload\.publish\.[^.]+\.size$/, /^workload\.publish\.[^.]+\.count$/, /^area\.(width|height)$/];

/** Returns the panel of a world; `change` is called with a list of {path, input, value}. */
export function predictions(world, change) {
  const holder = h("div", { role: "status", "aria-live": "polite" });
  const sliders = h("div", { class: "sliders" });
  const origins = new Map(); // the values on which the ranges of the sliders are centred, by key
  let all = false, asked = false, wanted = null, data = null;

  /** Asks for the prediction of a text; while one is computed, only the latest text waits. */
  async function update(text) {
    wanted = text;
    if (asked) return;
    asked = true;
    while (wanted !== null) {
      const now = wanted;
      wanted = null;
      holder.classList.add("busy");
      try {
        data = await post("/api/predict", { world, text: now });
        if (wanted === null) draw();
      } catch (error) {
        if (wanted === null) put(holder, h("p", { class: "note" }, `No prediction: ${error.message}`));
      }
    }
    holder.classList.remove("busy");
    asked = false;
  }

  function draw() {
    const rows = all ? data.protocols : data.protocols.slice(0, FEW);
    const hidden = data.protocols.length - rows.length;
    put(holder, doubts(data), h("div", { class: "wide" }, h("table", { class: "predicted" },
      h("caption", {}, `Predicted without a run, from runs of ${number(data.worlds)} random worlds. Bars and brackets: intervals meant to contain ${Math.round(100 * data.coverage)} % of single runs.`),
      h("thead", {}, h("tr", {}, ["Protocol", "Delivery rate", "", "Delay (s)", "Airtime (s)"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, rows.map(row)))),
    hidden > 0 || all ? h("button", { type: "button", class: "quiet", "aria-expanded": String(all), onclick: () => { all = !all; draw(); } },
      all ? `Show the first ${FEW}` : `Show ${hidden} more`) : null,
    all ? data.left_out.map((reason) => h("p", { class: "small" }, `Left out: ${reason}`)) : null);
  }

  /** Draws the sliders of a form's main numbers; one that is being moved stays as it is. */
  function show(sections) {
    if (sliders.contains(document.activeElement)) return;
    const fields = sections.flatMap((section) => section.fields).filter((field) => SLIDERS.some((key) => key.test(field.path.join("."))));
    put(sliders, fields.map((field) => slider(field, origins, change)).filter(Boolean).slice(0, MOST_SLIDERS));
  }

  const element = h("details", { class: "card pad prediction", open: true }, h("summary", {}, "Prediction"), holder,
    h("fieldset", {}, h("legend", {}, "Change a number"), sliders));
  return { element, update, show };
}

function doubts({ far, rank, outside, uncovered }) {
  const found = [];
  if (far) found.push(`This world is farther from the training worlds than ${Math.floor(100 * rank)} % of them are from each other. Compare the protocols by runs.`);
  for (const { name, about, value, low, high } of outside) found.push(`${name} (${about}) is ${number(value)}; training worlds have ${number(low)} to ${number(high)}.`);
  if (uncovered.length) found.push(`The advisor does not know the effect of ${uncovered.join(", ")}.`);
  return found.length ? h("div", { class: "note warning" }, h("b", {}, "Low confidence"), h("ul", {}, found.map((text) => h("li", {}, text)))) : null;
}

function row({ name, delivery, delay, airtime }) {
  const percent = (value) => `${(100 * value).toFixed(0)}`;
  return h("tr", {}, h("th", { scope: "row" }, name),
    h("td", { class: "number" }, `${percent(delivery.value)} [${percent(delivery.low)}, ${percent(delivery.high)}] %`),
    h("td", { class: "share" }, bar(delivery)),
    [["Delay (s)", delay], ["Airtime (s)", airtime]].map(([title, each]) => h("td", { class: "number", "data-label": title }, h("b", {}, number(each.value)), h("span", { class: "small" }, ` [${number(each.low)}, ${number(each.high)}]`))));
}

/** Draws a share with its interval on a line from 0 to 1. */
function bar({ value, low, high }) {
  return s("svg", { viewBox: "0 0 100 12", class: "interval", "aria-hidden": "true", preserveAspectRatio: "none" },
    s("line", { class: "grid", x1: 0, x2: 100, y1: 6, y2: 6 }),
    s("rect", { class: "band", x: 100 * low, width: Math.max(100 * (high - low), 0.5), y: 3, height: 6, rx: 1 }),
    s("rect", { class: "at", x: Math.min(Math.max(100 * value - 0.8, 0), 98.4), width: 1.6, y: 0, height: 12 }));
}

/** Returns a slider for a number with its unit; null if the field has no positive number. */
function slider(field, origins, change) {
  const parsed = /^\s*([\d_]+(?:\.\d+)?)\s*([^\d\s[{].*)?$/.exec(field.value ?? field.default ?? "");
  const value = parsed ? Number(parsed[1].replaceAll("_", "")) : 0;
  if (!(value > 0)) return null;
  const key = field.path.join("."), unit = parsed[2] ?? "", whole = field.input === "number";
  const known = origins.get(key);
  const origin = known && value >= known / SPAN && value <= known * SPAN ? known : value;
  origins.set(key, origin);
  const id = newId("slider"), shown = h("output", { for: id });
  const read = () => {
    const exact = origin * SPAN ** (Number(input.value) / (STEPS / 2) - 1);
    return whole ? Math.max(1, Math.round(exact)) : Number(exact.toPrecision(2));
  };
  const tell = (now) => put(shown, `${number(now)} ${unit}`.trim());
  const send = later(250, () => change([{ path: field.path, input: field.input, value: whole ? String(read()) : unit ? `${read()} ${unit}` : String(read()) }]));
  const input = h("input", { type: "range", id, min: 0, max: STEPS, step: 1, oninput: () => { tell(read()); send(); } });
  input.value = String(Math.round((Math.log(value / origin) / Math.log(SPAN) + 1) * (STEPS / 2)));
  tell(value);
  return h("div", { class: "slider" }, h("label", { for: id }, key), input, shown);
}
