// The numbers of each seed, and the tables of the result as files.

import { h } from "./dom.js";
import { metricValue } from "./format.js";

export function tables(data) {
  const rows = data.by_seed ?? [];
  const files = data.tables.map((name) => h("a", { class: "button quiet", href: `${data.files}/csv/${name}.csv`, download: true }, `${name}.csv`));
  return [
    h("div", { class: "row tools" }, h("span", { class: "small" }, "Download"), files),
    rows.length ? h("div", { class: "card pad wide tall" }, h("table", { class: "plain" }, h("caption", {}, "Run by run"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Seed"), h("th", { scope: "col" }, "Protocol"),
        data.metrics.map((metric) => h("th", { scope: "col", class: "number", title: metric.meaning }, metric.title, metric.unit ? ` [${metric.unit}]` : "")))),
      h("tbody", {}, rows.slice(0, 2000).map((row) => h("tr", {}, h("th", { scope: "row" }, row.seed), h("td", {}, row.protocol),
        data.metrics.map((metric) => h("td", { class: "number" }, metricValue(metric, row[metric.name])))))))) : h("p", { class: "note" }, "No run is measured yet."),
  ];
}
