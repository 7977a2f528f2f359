// A comparison while it runs: progress, runs as they end, stop; the result when it is done.

import { follow, post } from "./api.js";
import { commandLine, h, put, toast } from "./dom.js";
import { duration } from "./format.js";

const WORDS = { waiting: "Waiting for another comparison", running: "Running", stopping: "Stopping …", stopped: "Stopped; finished runs are kept",
  failed: "Failed", done: "Done" };

export async function job({ id }, signal) {
  const view = h("div", { class: "job" });
  const first = new Promise((resolve, reject) => {
    follow(`/api/jobs/${encodeURIComponent(id)}/events`, (state) => {
      draw(view, state);
      resolve();
      if (state.status === "done") location.replace(`#/result?${new URLSearchParams({ id: state.result })}`);
    }, signal).catch((error) => (error.name === "AbortError" ? null : (reject(error), toast(error.message, "bad"))));
  });
  await first;
  return [h("div", { class: "head" }, h("div", {}, h("p", { class: "crumb" }, h("a", { href: "#/ask" }, "Compare"), " / running"),
    h("h1", {}, "Comparison"))), view];
}

function draw(view, state) {
  const { progress, status } = state;
  const done = progress ? progress.done + progress.failed : 0;
  const busy = status === "running" || status === "waiting";
  const left = progress?.left ? `, about ${duration(progress.left)} left` : "";
  put(view,
    h("div", { class: "card pad" },
      h("div", { class: "row spread" }, h("p", { class: "state", role: "status" }, h("b", {}, WORDS[status]),
        progress ? ` – ${progress.done} of ${progress.total} runs done${progress.failed ? `, ${progress.failed} failed` : ""}${left}` : ""),
      h("div", { class: "row" },
        busy ? h("button", { type: "button", class: "quiet", onclick: () => post(`/api/jobs/${state.id}/stop`, {}).catch((error) => toast(error.message, "bad")) }, "Stop") : null,
        status === "stopped" || status === "failed" ? again(state) : null)),
      h("progress", { "aria-label": "Runs done", max: progress?.total ?? 1, value: progress ? done : null })),
    cells(state),
    state.lines.length ? h("details", { open: status === "failed", class: "card pad" }, h("summary", {}, "Messages"), h("pre", { class: "lines" }, state.lines.join("\n"))) : null,
    commandLine(state.command));
}

/** Returns a button that resumes a comparison. */
export function again(state) {
  return h("button", { type: "button", onclick: async () => {
    try {
      const made = await post("/api/ask", { ...state.question, result: state.result });
      location.hash = `#/job?${new URLSearchParams({ id: made.id })}`;
    } catch (error) {
      toast(error.message, "bad");
    }
  } }, "Resume");
}

function cells(state) {
  const protocols = state.question.protocols;
  const seeds = [...new Set(state.cells.map((cell) => cell.seed))].sort((a, b) => a - b);
  const rows = seeds.length ? seeds : Array.from({ length: Math.min(state.question.seeds, 20) }, (_, index) => index + 1);
  const known = new Map(state.cells.map((cell) => [`${cell.protocol}/${cell.seed}`, cell]));
  return h("div", { class: "card pad wide" }, h("table", { class: "cells" },
    h("caption", {}, "Delivery rate of each run"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Seed"), protocols.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((seed) => h("tr", {}, h("th", { scope: "row" }, seed), protocols.map((name) => one(known.get(`${name}/${seed}`))))))));
}

function one(cell) {
  const status = cell?.status ?? "missing";
  const share = cell?.delivery_rate;
  if (status === "failed") return h("td", { class: "cell failed", title: cell.error }, "failed");
  if (share === undefined || share === null) return h("td", { class: `cell ${status}` }, status === "missing" ? "" : "…");
  const bar = h("span", { class: "fill" });
  bar.style.setProperty("--share", share);
  return h("td", { class: "cell done" }, bar, h("span", {}, `${(100 * share).toFixed(1)} %`));
}
