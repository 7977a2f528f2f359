// Queries in Spark's SQL over the tables of a result, with a chart of two columns.

import { get, post } from "./api.js";
import { chart } from "./chart.js";
import { commandLine, h, newId, put, shellWord } from "./dom.js";
import { number } from "./format.js";

const EXAMPLES = [
  ["Delivery by seed", "SELECT p.protocol, p.seed, m.delivery_rate, m.airtime\nFROM points p JOIN metrics m ON p.run = m.run\nORDER BY p.protocol, p.seed"],
  ["Deliveries over time", "SELECT p.protocol, floor(d.time / 60) AS minute, count(*) AS deliveries\nFROM deliveries d JOIN points p ON d.run = p.run\nGROUP BY ALL ORDER BY minute"],
  ["Drops by reason", "SELECT reason, count(*) AS drops\nFROM drops GROUP BY reason ORDER BY drops DESC"],
];

export function sql(id) {
  const queryId = newId("query");
  const area = h("textarea", { id: queryId, rows: 5, spellcheck: "false", class: "mono" }, EXAMPLES[0][1]);
  const answer = h("div", { "aria-live": "polite" });
  const run = h("button", { type: "submit" }, "Run");
  const columns = h("details", { class: "small columns", ontoggle: async (event) => {
    if (!event.target.open || columns.dataset.read) return;
    columns.dataset.read = "yes";
    try {
      const data = await get("/api/tables", { id });
      columns.append(h("dl", {}, Object.entries(data).map(([table, fields]) => [h("dt", {}, table),
        h("dd", {}, fields.map((field) => h("span", { title: field.meaning }, `${field.name}${field.unit ? ` [${field.unit}]` : ""} `)))])));
    } catch (error) {
      columns.append(h("p", { class: "note bad" }, error.message));
    }
  } }, h("summary", {}, "Tables and columns"));

  const form = h("form", { class: "card pad", onsubmit: async (event) => {
    event.preventDefault();
    run.disabled = true;
    put(answer, h("p", { class: "loading" }, "Spark is answering; the first query takes some seconds …"));
    try {
      show(await post("/api/sql", { id, query: area.value }));
    } catch (error) {
      put(answer, h("p", { class: "note bad", role: "alert" }, error.message));
    } finally {
      run.disabled = false;
    }
  } }, h("label", { for: queryId }, "Query in Spark's SQL"), area,
  h("div", { class: "row spread" }, h("div", { class: "row" }, h("span", { class: "small" }, "Examples"), EXAMPLES.map(([title, text]) =>
    h("button", { type: "button", class: "quiet", onclick: () => { area.value = text; } }, title))), run), columns);

  function show(data) {
    const command = commandLine(data.command.map(shellWord).join(" "), "The query in a terminal");
    if (!data.rows.length) {
      put(answer, h("p", { class: "note" }, "No rows."), command);
      return;
    }
    const names = Object.keys(data.rows[0]);
    put(answer, chart(data.rows, names),
      h("div", { class: "card pad wide tall" }, h("table", { class: "plain" },
        h("caption", {}, `${data.more ? "The first " : ""}${data.rows.length} rows`),
        h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: typeof data.rows[0][name] === "number" ? "number" : "" }, name)))),
        h("tbody", {}, data.rows.slice(0, 500).map((row) => h("tr", {}, names.map((name) =>
          h("td", { class: typeof row[name] === "number" ? "number" : "" }, typeof row[name] === "object" && row[name] !== null ? JSON.stringify(row[name]) : number(row[name])))))))), command);
  }
  return [form, answer];
}
