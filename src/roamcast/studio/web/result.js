// One result: answer, report, replay, causes and tables as tabs.

import { get } from "./api.js";
import { answer } from "./answer.js";
import { commandLine, h, tabs } from "./dom.js";
import { again } from "./job.js";
import { replay } from "./replay.js";
import { sql } from "./sql.js";
import { tables } from "./tables.js";
import { why } from "./why.js";

export async function result({ id, tab = "answer" }) {
  const data = await get("/api/result", { id });
  const open = (key, given) => shown.show(key, given);
  const parts = [
    ["answer", "Answer", () => answer(data, open)],
    ["replay", "Replay", (given) => replay(data, given)],
    ["why", "Why", () => why(id, data, open)],
    ["tables", "Tables", () => tables(data)],
    ["sql", "SQL", () => sql(id)],
  ];
  if (data.report) parts.splice(1, 0, ["report", "Report", () => frame(`${data.files}/report.html`, "Report")]);
  const shown = tabs("Result", parts, tab, (key) =>
    history.replaceState(null, "", `#/result?${new URLSearchParams({ id, tab: key })}`));
  const { status } = data;
  const title = status.title;
  return [
    h("div", { class: "head" }, h("div", {}, h("p", { class: "crumb" }, h("a", { href: "#/results" }, "Results"), ` / ${id}`), h("h1", {}, title)),
      status.missing || status.failed ? h("div", { class: "row" }, h("span", { class: "chip not-finished" }, `${status.done} of ${status.planned} runs done`),
        data.question && !status.running ? again({ question: data.question, result: id }) : null) : null),
    data.stale ? h("div", { class: "note bad row spread" }, data.stale, data.question ? again({ question: data.question, result: id }) : null) : null,
    shown.element,
    data.command ? commandLine(data.command, "This result in a terminal") : null,
  ];
}

/** Returns a page of the result in a frame of its own origin, with a note until it is there. */
export function frame(source, title) {
  const waiting = h("p", { class: "loading", role: "status" }, `Reading: ${title} …`);
  return h("div", { class: "framed" }, waiting,
    h("iframe", { src: source, title, class: "frame", sandbox: "allow-scripts allow-downloads allow-popups", onload: () => waiting.remove() }));
}
