// The replay of one seed, protocols side by side, in a frame.

import { h, newId, put } from "./dom.js";
import { frame } from "./result.js";

const MOST = 4;

/** Returns the tab; `given` may be {run, protocol, seed, event, node} of a loss to open at. */
export function replay(data, given) {
  const rows = data.by_seed ?? [];
  if (!rows.length) return h("p", { class: "note" }, "No run is measured yet.");
  const protocols = data.protocols;
  const seeds = [...new Set(rows.map((row) => row.seed))];
  const chosen = new Set(given ? [given.protocol] : protocols.slice(0, 2));
  const holder = h("div", {});
  const seedId = newId("seed");
  const seed = h("select", { id: seedId, onchange: load }, seeds.map((each) => h("option", { value: each }, each)));
  seed.value = String(given?.seed ?? seeds[0]);
  const boxes = protocols.map((name) => {
    const id = newId("shown");
    return h("span", { class: "check" }, h("input", { type: "checkbox", id, checked: chosen.has(name), onchange: (event) => {
      if (event.target.checked && chosen.size >= MOST) event.target.checked = false;
      else chosen[event.target.checked ? "add" : "delete"](name);
      load();
    } }), h("label", { for: id }, name));
  });

  function load(first) {
    const runs = rows.filter((row) => String(row.seed) === seed.value && chosen.has(row.protocol));
    const unique = runs.filter((row, index) => runs.findIndex((other) => other.protocol === row.protocol) === index);
    if (!unique.length) {
      put(holder, h("p", { class: "note" }, "Choose a protocol."));
      return;
    }
    const query = new URLSearchParams(unique.map((row) => ["run", `${row.protocol}:${row.run}`]));
    const at = first === given && given?.event ? `#event=${given.event}&node=${given.node}` : "";
    put(holder, frame(`${data.files}/replay.html?${query}${at}`, `Replay of seed ${seed.value}`));
  }
  load(given);
  return [h("div", { class: "row tools" }, h("label", { for: seedId }, "Seed"), seed, boxes), holder];
}
