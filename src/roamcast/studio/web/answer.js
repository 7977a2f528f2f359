// The answer: the sentences, every metric side by side, and each seed as a dot.

import { h, s } from "./dom.js";
import { colour, metricValue } from "./format.js";

export function answer(data, open) {
  if (data.stale) return null;
  if (!data.record) return h("p", { class: "note" }, "The runs are not measured yet. Resume the comparison.");
  return [data.verdicts ? verdicts(data.verdicts) : null, ...data.record.points.map((point) => one(data, point, open))];
}

/** The verdicts on the claims of a campaign. */
function verdicts({ summary, claims }) {
  const paper = claims.some((claim) => claim.paper);
  const columns = ["Claim", ...(paper ? ["The paper"] : []), "Bounds", "Ours", "Verdict"];
  const field = (label, ...content) => h("td", { "data-label": label }, ...content);
  return h("section", { class: "answer verdicts" },
    h("div", { class: "card pad hero" }, h("p", { class: "headline" }, summary)),
    h("div", { class: "card pad wide" }, h("table", { class: "sides" }, h("caption", {}, "Claims and verdicts"),
      h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, claims.map((claim) => h("tr", {},
        h("th", { scope: "row" }, claim.says, claim.section ? h("span", { class: "small" }, ` (section ${claim.section})`) : null),
        paper ? field("The paper", claim.paper || "–") : null,
        field("Bounds", claim.bounds), field("Ours", claim.ours),
        field("Verdict", h("span", { class: `chip ${claim.mark}` }, claim.verdict))))))));
}

function one(data, point, open) {
  const protocols = data.protocols.filter((name) => point.protocols[name]);
  const [first, ...rest] = point.answer.sentences;
  const [head, tail] = split(first ?? "");
  const settings = Object.entries(point.settings).map(([key, value]) => `${key} = ${value}`).join(", ");
  return h("section", { class: "answer" },
    settings ? h("p", { class: "small" }, settings) : null,
    h("div", { class: "card pad hero" }, h("p", { class: "headline" }, h("strong", {}, head), tail), rest.map((sentence) => h("p", {}, sentence)),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => open("why") }, "Why were events lost?"),
        h("button", { type: "button", class: "quiet", onclick: () => open("replay") }, "Watch a run"))),
    h("div", { class: "strips" }, data.metrics.slice(0, 4).map((metric) => strip(data, point, metric, protocols))),
    h("p", { class: "small" }, "Dots are seeds, vertical lines their means."),
    h("div", { class: "card pad wide" }, table(data, point, protocols)));
}

function split(sentence) {
  const place = sentence.search(/: |\. |; /);
  return place < 0 ? [sentence, ""] : [sentence.slice(0, place), sentence.slice(place)];
}

function table(data, point, protocols) {
  return h("table", { class: "sides" }, h("caption", {}, data.few ? "Means over seeds, with the smallest and largest value in parentheses (too few seeds for intervals)" : "Means over seeds with 95 % confidence intervals"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Metric"), protocols.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, data.metrics.map((metric) => h("tr", {},
      h("th", { scope: "row", title: metric.meaning }, metric.title, metric.unit ? h("span", { class: "small" }, ` (${metric.unit})`) : null),
      protocols.map((name) => cell(point.texts[name]?.[metric.name], name))))));
}

function cell(text, name) {
  const [, mean, rest] = /^(\S+)(.*)$/.exec(text ?? "–");
  return h("td", { "data-label": name }, h("b", {}, mean), h("span", { class: "small" }, rest));
}

/** Whether a run is one of a point: of its sweep, with its settings. */
function isOf(row, point) {
  const equal = ([key, value]) => JSON.stringify(point.settings[key]) === JSON.stringify(value);
  return row.sweep === point.sweep && Object.entries(JSON.parse(row.point)).every(equal);
}

function strip(data, point, metric, protocols) {
  const rows = data.by_seed.filter((row) => isOf(row, point) && row[metric.name] !== null);
  const values = rows.map((row) => row[metric.name]);
  if (!values.length) return null;
  const top = metric.scale === "share" ? 1 : Math.max(...values) || 1;
  const x = (value) => 86 + (180 * value) / top;
  const height = 26 * protocols.length + 24;
  const drawn = s("svg", { viewBox: `0 0 304 ${height}`, class: "strip", role: "img", "aria-label": `${metric.title}: each seed as a dot` });
  [0, 0.5, 1].forEach((share) => drawn.append(
    s("line", { x1: x(share * top), x2: x(share * top), y1: 4, y2: height - 18, class: "grid" }),
    s("text", { x: x(share * top), y: height - 5, class: "tick" }, metricValue(metric, share * top))));
  protocols.forEach((name, number) => {
    const y = 18 + 26 * number;
    drawn.append(s("text", { x: 76, y: y + 4, class: "name" }, name.length > 10 ? `${name.slice(0, 9)}…` : name));
    const own = rows.filter((row) => row.protocol === name);
    own.forEach((row, index) => drawn.append(s("circle", { cx: x(row[metric.name]), cy: y + ((index % 3) - 1) * 3, r: 3.4, class: `dot ${colour(number)}` },
      s("title", {}, `${name}, seed ${row.seed}: ${metricValue(metric, row[metric.name])}`))));
    const mean = point.protocols[name]?.[metric.name]?.mean;
    if (mean !== undefined && mean !== null) drawn.append(s("line", { x1: x(mean), x2: x(mean), y1: y - 9, y2: y + 9, class: `mean ${colour(number)}` }));
  });
  return h("figure", { class: "card pad" }, h("figcaption", { title: metric.meaning }, metric.title, metric.unit ? h("span", { class: "small" }, ` (${metric.unit})`) : null), drawn);
}
