// Live nodes: state, events that pass, and the replay of the last minutes, as far as the nodes write facts.

import { get } from "./api.js";
import { h, newId, put } from "./dom.js";
import { duration, number } from "./format.js";
import { frame } from "./result.js";

const EVERY = 2000;

export async function live(_, signal) {
  const nodes = h("ul", { class: "nodes-list" });
  const passing = h("div", { class: "passing" });
  const networks = new Map();
  const before = new Map();

  async function look() {
    const data = await get("/api/live");
    const now = performance.now();
    put(nodes, data.nodes.length ? data.nodes.map((node) => card(node, rates(node, now))) : h("li", { class: "note" },
      "No configuration of a live node is in this folder: a TOML file with `control`, as roamcast node takes it."));
    for (const folder of data.facts) {
      if (!networks.has(folder)) networks.set(folder, network(folder, data.minutes));
    }
    if (networks.size && passing.childElementCount !== networks.size) put(passing, [...networks.values()].map((each) => each.element));
    if (!networks.size) put(passing, data.nodes.some((node) => node.state) ? h("p", { class: "note" },
      "Add the key `facts = \"facts\"` to the configurations of the nodes and restart them: then their events and a replay of the last minutes are shown here.") : null);
    await Promise.all([...networks.values()].map((each) => each.look()));
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

  let timer = 0;
  const repeat = () => look().catch((error) => put(passing, h("p", { class: "note bad", role: "alert" }, error.message)))
    .then(() => { if (!signal.aborted) timer = setTimeout(repeat, EVERY); });
  signal.addEventListener("abort", () => clearTimeout(timer));
  await look();
  timer = setTimeout(repeat, EVERY);
  return [h("div", { class: "head" }, h("div", {}, h("h1", {}, "Live nodes"),
    h("p", { class: "lead" }, "Nodes that run on this machine with a configuration in this folder; renewed every two seconds."))), passing, h("h2", {}, "Nodes"), nodes];
}

/** Returns the section of the nodes that write facts into one folder; `look` renews its list of events. */
function network(folder, periods) {
  const summary = h("p", { class: "facts", role: "status" }), holder = h("div", {}), stage = h("div", {}), id = newId("minutes");
  const minutes = h("select", { id, onchange: () => look() }, periods.map((each) => h("option", { value: each }, `${each} min`)));
  minutes.value = String(periods[1]);
  const query = () => ({ facts: folder, minutes: minutes.value });
  const watch = h("button", { type: "button", class: "primary", onclick: async () => {
    watch.disabled = true;
    try {
      const { address } = await get("/api/live/replay", query());
      put(stage, frame(address, `Replay of the last ${minutes.value} minutes`));
      watch.textContent = "Renew the replay";
    } catch (error) {
      put(stage, h("p", { class: "note bad", role: "alert" }, error.message));
    } finally {
      watch.disabled = false;
    }
  } }, "Replay");

  async function look() {
    const data = await get("/api/live/events", query());
    put(summary, [`${data.nodes.length} nodes`, `${number(data.published)} published`, `${number(data.delivered)} delivered`, `${number(data.messages)} messages`]
      .map((text) => h("span", { class: "chip" }, text)));
    put(holder, data.events.length ? table("Events, the latest first", ["ago", "from", "event", "delivered", "to"], data.events.map((each) => [
      duration(Math.max(each.ago, 0)), each.publisher, h("code", {}, each.event), `${each.delivered} of ${each.wanted}`,
      each.got.map(({ node, delay }) => `${node} after ${(1000 * delay).toFixed(0)} ms`).join(", ") || "–",
    ])) : h("p", { class: "note" }, "No event was published in this time."));
  }

  const element = h("section", { class: "card pad" }, h("div", { class: "row spread" }, h("h2", {}, "Events passing", h("span", { class: "small" }, ` ${folder}`)),
    h("div", { class: "row" }, h("label", { for: id }, "The last"), minutes, watch)), summary, holder, stage);
  return { element, look };
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
    tableSizes(state.tables ?? {}),
    counts.length ? h("p", { class: "facts" }, h("span", { class: "small" }, "Per second: "), counts.map(([key, value]) => h("span", { class: "chip" }, `${key} ${number(value)}`))) : null);
}

/** Returns the sizes of the router's tables; those that are empty are named below. */
function tableSizes(tables) {
  const all = Object.entries(tables), filled = all.filter(([, size]) => size.entries > 0), empty = all.filter(([, size]) => !size.entries);
  return [table("Tables and leases", ["table", "entries", "limit", "bytes"], filled.map(([name, size]) => [name, number(size.entries), number(size.limit), number(size.bytes)])),
    empty.length ? h("p", { class: "small" }, `Empty: ${empty.map(([name]) => name).join(", ")}`) : null];
}

const list = (title, items) => (items.length ? [h("h3", {}, title), h("ul", { class: "small" }, items.map((each) => h("li", {}, each)))] : null);

function table(title, names, rows) {
  if (!rows.length) return null;
  return h("div", { class: "wide" }, h("table", { class: "plain" }, h("caption", {}, title), h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value) => h("td", {}, value)))))));
}
