// The page: navigation, and the view that the address names.

import { takeToken } from "./api.js";
import { ask } from "./ask.js";
import { h, put } from "./dom.js";
import { editor } from "./editor.js";
import { history as pastResults } from "./history.js";
import { job } from "./job.js";
import { live } from "./live.js";
import { result } from "./result.js";
import { worlds } from "./worlds.js";

const VIEWS = { worlds, world: editor, ask, job, results: pastResults, result, live };
const PAGES = [["worlds", "Worlds", ["world"]], ["ask", "Compare", ["job"]], ["results", "Results", ["result"]],
  ["live", "Live nodes", []]];

const page = document.getElementById("page");
let leave = null;
let turn = 0;

async function show() {
  const [, name = "worlds", query = ""] = /^#\/(\w+)(?:\?(.*))?$/.exec(location.hash) ?? [];
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : worlds;
  const mine = (turn += 1);
  leave?.abort();
  leave = new AbortController();
  for (const link of document.querySelectorAll("#nav a")) {
    const own = link.dataset.names.split(" ").includes(name);
    if (own) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  put(page, h("p", { class: "loading" }, "Loading …"));
  page.className = `page-${name}`;
  try {
    const made = await view(Object.fromEntries(new URLSearchParams(query)), leave.signal);
    if (mine !== turn) return;
    put(page, made);
    const title = page.querySelector("h1")?.textContent;
    document.title = title ? `${title} – Roamcast studio` : "Roamcast studio";
  } catch (error) {
    if (mine !== turn || error.name === "AbortError") return;
    put(page, h("h1", {}, "This cannot be shown"), h("p", { class: "note bad", role: "alert" }, error.message));
  }
}

takeToken();
put(document.getElementById("nav"), PAGES.map(([name, title, more]) =>
  h("a", { href: `#/${name}`, "data-names": [name, ...more].join(" ") }, title)));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  page.focus();
});
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) takeToken();
  show();
});
show();
