// The causes of losses of one run: counts, an example of each, its story, and the way to the replay.

import { get } from "./api.js";
import { commandLine, h, newId, put, shellWord } from "./dom.js";

export function why(id, data, open) {
  const rows = data.by_seed ?? [];
  if (!rows.length) return h("p", { class: "note" }, "No run is measured yet.");
  const holder = h("div", { "aria-live": "polite" });
  const protocolId = newId("of"), seedId = newId("seed");
  const worst = rows.reduce((low, row) => ((row.delivery_rate ?? 1) < (low.delivery_rate ?? 1) ? row : low), rows[0]);
  const protocol = h("select", { id: protocolId, onchange: load }, data.protocols.map((name) => h("option", { value: name }, name)));
  const seed = h("select", { id: seedId, onchange: load }, [...new Set(rows.map((row) => row.seed))].map((each) => h("option", { value: each }, each)));
  protocol.value = worst.protocol;
  seed.value = String(worst.seed);

  async function load() {
    const row = rows.find((each) => each.protocol === protocol.value && String(each.seed) === seed.value);
    if (!row) {
      put(holder, h("p", { class: "note" }, "This run is not measured."));
      return;
    }
    put(holder, h("p", { class: "loading" }, "Reading the run …"));
    try {
      const causes = await get("/api/why", { id, run: row.run });
      if (row.run !== current().run) return;
      put(holder, tally(row, causes.events, "expected deliveries were lost", ""), causes.requests.expected
        ? tally(row, causes.requests, "requests were not satisfied", "R") : null, commandLine(`roamcast why ${shellWord(id)}/run=${row.run}`, "These causes in a terminal"));
    } catch (error) {
      put(holder, h("p", { class: "note bad", role: "alert" }, error.message));
    }
  }
  const current = () => rows.find((each) => each.protocol === protocol.value && String(each.seed) === seed.value) ?? {};

  function tally(row, counted, words, mark) {
    if (!counted.missed) return h("p", { class: "card pad" }, `Nothing was lost: 0 of ${counted.expected.toLocaleString("en")} ${words}.`);
    const share = (100 * counted.missed) / counted.expected;
    return h("section", { class: "card pad" },
      h("h2", {}, `${counted.missed.toLocaleString("en")} of ${counted.expected.toLocaleString("en")} ${words} (${share.toFixed(1)} %)`),
      h("ul", { class: "causes" }, counted.causes.map((cause) => one(row, cause, counted.missed, mark))));
  }

  function one(row, cause, all, mark) {
    const story = h("div", { class: "story" });
    const bar = h("span", { class: "fill" });
    bar.style.setProperty("--share", cause.times / all);
    const tell = async () => {
      put(story, h("p", { class: "loading" }, "Explaining …"));
      try {
        const data = await get("/api/explain", { id, run: row.run, event: `${mark}${cause.about}`, node: cause.node });
        put(story, h("ol", {}, data.story.map((sentence) => h("li", {}, sentence))));
      } catch (error) {
        put(story, h("p", { class: "note bad" }, error.message));
      }
    };
    const watch = () => open("replay", { protocol: row.protocol, seed: row.seed, event: cause.about, node: cause.node });
    return h("li", { class: "cause" },
      h("div", { class: "row spread" }, h("div", { class: "says" }, bar, h("b", {}, cause.times < 0.005 * all ? "<1 %" : `${((100 * cause.times) / all).toFixed(0)} %`), ` ${cause.says}`,
        h("span", { class: "small" }, ` ${cause.times.toLocaleString("en")}${cause.proven === cause.times ? ", proven" : cause.proven ? `, ${cause.proven.toLocaleString("en")} proven` : ""}`)),
      h("div", { class: "row" }, h("button", { type: "button", class: "quiet explain", onclick: tell }, `Explain ${cause.about}, node ${cause.node}`),
        mark ? null : h("button", { type: "button", class: "quiet watch", onclick: watch }, "Watch it"))), story);
  }
  load();
  return [h("div", { class: "row tools" }, h("label", { for: protocolId }, "Protocol"), protocol, h("label", { for: seedId }, "Seed"), seed), holder];
}
