// The form of a comparison: world, protocols, seeds, goal and changed keys.

import { get, post } from "./api.js";
import { commandLine, h, later, newId, put } from "./dom.js";

const USUAL = ["flooding", "cbr", "ft-cbr", "raft-cbr"];

export async function ask({ world = "shipped/shopping" }) {
  const [{ worlds }, options] = await Promise.all([get("/api/worlds"), get("/api/options")]);
  const chosen = new Set(USUAL);
  const command = h("div", { "aria-live": "polite" });
  const list = h("div", { class: "protocols" });
  const start = h("button", { type: "submit", class: "big" }, "Run");
  const where = labelled("World", h("select", { onchange: () => load() }, worlds.map((each) =>
    h("option", { value: each.id }, `${each.name ?? each.id}${each.local ? ` (${each.id.slice(6)})` : ""}`))));
  where.input.value = worlds.some((each) => each.id === world) ? world : worlds[0].id;
  const seeds = labelled("Seeds", h("input", { type: "number", min: 1, max: 10000, value: 5, required: true }),
    "Independent repetitions; five or more give confidence intervals.");
  const sets = labelled("Changed keys", h("textarea", { rows: 2, placeholder: 'radio.range="200 m"', spellcheck: "false" }),
    "One key per line, as for --set. The file of the world is not changed.");
  const more = Object.entries(options).map(([name, about]) => {
    const input = about.choices.length
      ? h("select", {}, h("option", { value: "" }, `default: ${about.choices[0]}`), about.choices.map((each) => h("option", { value: each }, each)))
      : h("input", { type: "text", placeholder: "none" });
    return [name, labelled(name[0].toUpperCase() + name.slice(1), input, about.help)];
  });

  const question = () => ({
    world: where.input.value,
    protocols: [...list.querySelectorAll("input:checked")].map((each) => each.value),
    seeds: Number(seeds.input.value),
    set: sets.input.value.split("\n").map((line) => line.trim()).filter(Boolean),
    options: Object.fromEntries(more.map(([name, each]) => [name, each.input.value.trim()]).filter(([, value]) => value)),
  });

  const tell = later(200, async () => {
    try {
      const data = await post("/api/command", question());
      put(command, commandLine(data.command));
      start.disabled = false;
    } catch (error) {
      put(command, h("p", { class: "note bad" }, error.message));
      start.disabled = true;
    }
  });

  async function load() {
    put(list, h("p", { class: "small" }, "Loading …"));
    try {
      const data = await get("/api/protocols", { id: where.input.value });
      put(list, data.protocols.map((each) => {
        const id = newId("protocol");
        return h("div", { class: `protocol ${each.able ? "" : "unable"}` },
          h("input", { type: "checkbox", id, value: each.name, disabled: !each.able, checked: each.able && chosen.has(each.name),
            onchange: (event) => chosen[event.target.checked ? "add" : "delete"](each.name) }),
          h("label", { for: id }, h("b", {}, each.name), h("span", { class: "small" }, each.about)));
      }), data.left_out.map((reason) => h("p", { class: "small" }, reason)));
    } catch (error) {
      put(list, h("p", { class: "note bad" }, error.message));
    }
    tell();
  }

  const form = h("form", { class: "question", onchange: tell, oninput: tell, onsubmit: async (event) => {
    event.preventDefault();
    start.disabled = true;
    try {
      const job = await post("/api/ask", question());
      location.hash = `#/job?${new URLSearchParams({ id: job.id })}`;
    } catch (error) {
      put(command, h("p", { class: "note bad", role: "alert" }, error.message));
      start.disabled = false;
    }
  } },
  h("div", { class: "settings card pad" }, where.element, seeds.element, more.map(([, each]) => each.element), sets.element),
  h("fieldset", { class: "card" }, h("legend", {}, "Protocols"), list),
  h("div", { class: "go" }, start, command));
  await load();
  return [h("div", { class: "head" }, h("div", {}, h("h1", {}, "Compare protocols"),
    h("p", { class: "lead" }, "Find the protocol that serves a world best. All protocols run on the same seeds."))), form];
}

function labelled(text, input, about = "") {
  const id = newId("ask");
  input.id = id;
  return { input, element: h("div", { class: "field" }, h("label", { for: id }, text), input, about ? h("p", { class: "small" }, about) : null) };
}
