// The editor of a scenario: map, prediction, form and text of the same file, checked while it is edited.

import { get, post } from "./api.js";
import { codeEditor } from "./code.js";
import { commandLine, h, later, put, shellWord, toast } from "./dom.js";
import { scenarioForm } from "./form.js";
import { placingMap } from "./place.js";
import { predictions } from "./predict.js";

export async function editor({ id }, signal) {
  const data = await get("/api/world", { id });
  const name = id.split("/").slice(1).join("/");
  let saved = data.text;
  let turn = 0;
  let waiting = Promise.resolve();
  const status = h("div", { class: "check-status", role: "status", "aria-live": "polite" });
  const code = codeEditor(data.text, later(350, check));
  const form = scenarioForm(change);
  const ground = placingMap(change);
  const predicted = predictions(id, change);
  const save = h("button", { type: "button", class: "quiet", onclick: () => store(null) }, "Save");
  const leave = (event) => {
    if (code.text !== saved) event.preventDefault();
  };
  window.addEventListener("beforeunload", leave);
  signal.addEventListener("abort", () => window.removeEventListener("beforeunload", leave));

  async function check() {
    const mine = (turn += 1);
    const text = code.text;
    tell(null);
    try {
      const found = await post("/api/check", { world: id, text });
      if (mine === turn) show(found);
    } catch (error) {
      if (mine === turn) tell({ problems: [{ text: error.message, line: null }] });
    }
  }

  function change(changes) {
    waiting = waiting.then(async () => {
      const mine = (turn += 1);
      try {
        const made = await post("/api/edit", { world: id, text: code.text, changes });
        if (mine !== turn) return;
        code.set(made.text);
        show(made.check);
      } catch (error) {
        toast(error.message, "bad");
        check();
      }
    });
  }

  function show(found) {
    tell(found);
    code.mark(found.problems.map((problem) => problem.line).filter((line) => line !== null));
    ground.draw(found.map);
    if (found.form) form.draw(found.form);
    if (found.form) predicted.show(found.form);
    if (!found.problems.length) predicted.update(code.text);
  }

  function tell(found) {
    save.disabled = code.text === saved;
    if (found === null) {
      status.classList.add("busy");
      return;
    }
    status.className = `check-status ${found.problems.length ? "bad" : "good"}`;
    put(status, found.problems.length
      ? h("ul", {}, found.problems.map((problem) => h("li", {}, problem.line === null ? problem.text
        : h("button", { type: "button", class: "link", onclick: () => code.goTo(problem.line) }, problem.text))))
      : h("span", {}, found.summary));
  }

  async function store(as) {
    try {
      const made = await post("/api/save", { world: id, text: code.text, name: as });
      saved = code.text;
      save.disabled = true;
      toast("saved");
      return made.id;
    } catch (error) {
      toast(error.message, "bad");
      return null;
    }
  }

  async function storeCopy() {
    const made = copyName.value.trim() ? await store(copyName.value.trim()) : toast("give the copy a name", "bad");
    if (made) location.hash = `#/world?${new URLSearchParams({ id: made })}`;
  }

  async function compare(event) {
    if (code.text === saved) return;
    event.preventDefault();  // what is compared is the file, so changes are saved first
    const made = await store(data.local ? null : copyName.value.trim());
    if (made) location.hash = `#/ask?${new URLSearchParams({ world: made })}`;
  }

  const copyName = h("input", { type: "text", "aria-label": "Name of the copy", placeholder: "name of the copy",
    value: data.local ? "" : `my-${name}` });
  const copy = h("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    storeCopy();
  } }, copyName, h("button", { type: "submit", class: data.local ? "quiet" : "" }, "Save a copy"));
  show(data.check);
  const askLink = `#/ask?${new URLSearchParams({ world: id })}`;
  return [
    h("div", { class: "head" }, h("div", {}, h("p", { class: "crumb" }, h("a", { href: "#/worlds" }, "Worlds"), " / ",
      data.local ? "this folder" : "shipped"), h("h1", {}, name)),
    h("div", { class: "row" }, data.local ? save : null, copy, h("a", { class: "button", href: askLink, onclick: compare }, "Compare protocols"))),
    status,
    h("div", { class: "workbench" },
      h("section", { class: "left", "aria-label": "Map, prediction and form" }, ground.element, predicted.element, form.element),
      h("section", { class: "right", "aria-label": "Text" }, code.element)),
    data.local ? commandLine(`roamcast check ${shellWord(name)}`, "The check in a terminal") : null,
  ];
}
