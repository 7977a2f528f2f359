// Live nodes: neighbours, routes, tables and rates of the nodes whose configuration is in the folder.

import { get } from "./api.js";
import { h, put } from "./dom.js";
import { duration, number } from "./format.js";

const EVERY = 2000;

export async function live(_, signal) {
  const holder = h("ul", { class: "nodes-list" });
  const before = new Map();
  async function look() {
    const { nodes } = await get("/api/live");
    const now = performance.now();
    put(holder, nodes.length ? nodes.map((node) => card(node, rates(node, now))) : h("li", { class: "note" },
      "No configuration of a live node is in this folder: a TOML file with `control`, as roamcast node takes it."));
  }
  function rates(node, now) {
    if (!node.state) return {};
    const counts = { ...node.state.link, published: node.state.published, delivered: node.state.delivered };
    const last = before.get(node.file);
    before.set(node.file, { now, counts });
    if (!last) return {};
    const passed = (now - last.now) / 1000;
    return Object.fromEntries(Object.entries(counts).map(([key, value]) => [key, (value - (last.counts[key] ?? 0)) / passed]));
  }
  await look();
  const timer = setInterval(() => look().catch((error) => put(holder, h("li", { class: "note bad" }, error.message))), EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return [h("div", { class: "head" }, h("div", {}, h("h1", {}, "Live nodes"),
    h("p", { class: "lead" }, "Nodes that run on this machine with a configuration in this folder, every two seconds."))), holder];
}

function card(node, rates) {
  const { state } = node;
  const title = node.name || state?.name || node.file;
  if (!state) return h("li", { class: "card pad" }, h("h2", {}, title), h("p", { class: "problem" }, node.problem));
  const counts = Object.entries(rates).filter(([, value]) => value > 0);
  return h("li", { class: "card pad" },
    h("h2", {}, title, h("span", { class: "small" }, ` node ${state.node}`)),
    h("p", { class: "facts" }, [state.protocol, `up ${duration(state.uptime)}`, `${state.published} published`, `${state.delivered} delivered`].map((text) => h("span", { class: "chip" }, text))),
    list("Subscriptions", state.subscriptions),
    table("Neighbours", ["node", "name", "heard", "round trip", "waiting", "failures"], state.neighbours.map((each) => [each.node, each.name, `${each.heard.toFixed(1)} s ago`,
      each.round_trip === null ? "–" : `${(1000 * each.round_trip).toFixed(1)} ms`, each.waiting, each.failures])),
    table("Routes", ["to", "by"], Object.entries(state.routes)),
    table("Tables and leases", ["table", "entries"], Object.entries(state.tables ?? {}).map(([name, size]) => [name, Object.entries(size).map(([key, value]) => `${key} ${number(value)}`).join(", ")])),
    counts.length ? h("p", { class: "facts" }, h("span", { class: "small" }, "Per second: "), counts.map(([key, value]) => h("span", { class: "chip" }, `${key} ${number(value)}`))) : null);
}

const list = (title, items) => (items.length ? [h("h3", {}, title), h("ul", { class: "small" }, items.map((each) => h("li", {}, each)))] : null);

function table(title, names, rows) {
  if (!rows.length) return null;
  return h("div", { class: "wide" }, h("table", { class: "plain" }, h("caption", {}, title), h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value) => h("td", {}, value)))))));
}
