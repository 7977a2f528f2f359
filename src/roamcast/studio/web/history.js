// All questions: those of this folder, newest first, with their answers and command lines.

import { get } from "./api.js";
import { commandLine, h } from "./dom.js";
import { ago } from "./format.js";
import { again } from "./job.js";

export async function history() {
  const data = await get("/api/results");
  const open = data.jobs.filter((job) => job.status !== "done");
  const empty = !data.results.length && !open.length;
  return [
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "Results"), h("p", { class: "lead" }, "Every comparison and campaign in this folder.")),
      h("a", { class: "button", href: "#/ask" }, "New comparison")),
    empty ? h("p", { class: "note" }, "This folder has no results yet: start a comparison.") : null,
    h("ul", { class: "results" }, open.map(running), data.results.map(one)),
  ];
}

function running(job) {
  const link = `#/job?${new URLSearchParams({ id: job.id })}`;
  const last = job.status === "failed" ? job.lines.at(-1) : null;
  return h("li", { class: "card pad" }, h("h2", {}, h("a", { href: link }, job.question.world.split("/").slice(1).join("/"))),
    h("p", { class: "facts" }, h("span", { class: `chip ${job.status}` }, job.status)), last ? h("p", { class: "problem" }, last) : null, commandLine(job.command));
}

function one(result) {
  if (result.problem) return h("li", { class: "card pad" }, h("h2", {}, result.id), h("p", { class: "problem" }, result.problem));
  const link = result.job && !["stopped", "failed"].includes(result.job.status)
    ? `#/job?${new URLSearchParams({ id: result.job.id })}` : `#/result?${new URLSearchParams({ id: result.id })}`;
  const status = result.job?.status ?? (result.finished ? "done" : "not finished");
  return h("li", { class: "card pad" },
    h("div", { class: "row spread" }, h("h2", {}, h("a", { href: link }, result.title)), h("span", { class: "small" }, ago(result.time))),
    result.answer ? h("p", { class: "verdict" }, result.answer) : null,
    h("p", { class: "facts" }, h("span", { class: `chip ${status.replace(" ", "-")}` }, status), h("span", { class: "chip" }, `${result.seeds} seeds`),
      result.protocols.slice(0, 8).map((name) => h("span", { class: "chip" }, name)), h("span", { class: "chip" }, result.id)),
    !result.finished && result.question && (!result.job || ["stopped", "failed"].includes(result.job.status))
      ? h("p", { class: "actions" }, again({ question: result.question, result: result.id })) : null,
    result.command ? commandLine(result.command) : null);
}
