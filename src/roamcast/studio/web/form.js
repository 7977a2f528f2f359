// The form of a scenario, made from the description that the server derives from its models.

import { h, newId, put, toast } from "./dom.js";

/** Returns a form; `change` is called with a list of {path, input, value}. */
export function scenarioForm(change) {
  const root = h("div", { class: "form" });
  const opened = new Set(["", "area", "nodes"]);
  let all = false;

  function draw(sections) {
    const focus = root.contains(document.activeElement) ? document.activeElement.dataset.path : null;
    const named = sections.filter((section) => !section.names && section.path.length > 1);
    const parents = sections.filter((section) => section.names || section.path.length <= 1);
    put(root, h("label", { class: "check" }, h("input", { type: "checkbox", checked: all, onchange: (event) => {
      all = event.target.checked;
      draw(sections);
    } }), "Show every key"), parents.map((section) => block(section, named)));
    if (focus) root.querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
  }

  function block(section, named) {
    const key = section.path.join(".");
    const inside = named.filter((each) => each.path.slice(0, section.path.length).join(".") === key && each !== section);
    const own = section.names ? inside.filter((each) => each.path.length === section.path.length + 1) : section.path.length ? inside.filter((each) => each.path.length === section.path.length + 1) : [];
    const fields = shown(section);
    const rest = own.filter((each) => all || each.present);
    if (!section.names && !fields.length && !rest.length) return null;
    if (!all && section.present === false && !fields.length) return null;
    if (!all && section.present === false && section.path.length && !["radio", "mac"].includes(key)) return null;
    if (!all && section.names && !section.names.length) return null;
    return h("details", { open: opened.has(key), ontoggle: (event) => {
      if (event.target.open) opened.add(key);
      else opened.delete(key);
    } }, h("summary", {}, title(section), section.names ? h("span", { class: "small" }, ` ${section.names.length}`) : null),
    section.about ? h("p", { class: "small" }, section.about) : null,
    fields.map(field),
    rest.map((each) => h("fieldset", {}, h("legend", {}, each.path.at(-1)), shown(each).map(field))),
    section.names ? adder(section) : null);
  }

  const title = (section) => (section.path.length ? section.path.join(".") : "Scenario");
  const shown = (section) => section.fields.filter((each) => all || each.main || each.value !== null);

  function field(each) {
    const id = newId("field");
    const send = (value) => change([{ path: each.path, input: each.input, value: value === "" ? null : value }]);
    const shared = { id, "data-path": each.path.join("."), "aria-describedby": `${id}-about` };
    let input;
    if (each.input === "choice" || each.input === "bool") {
      const options = each.input === "bool" ? ["true", "false"] : each.choices;
      const none = each.required ? [] : [h("option", { value: "" }, `default${each.default ? `: ${each.default}` : ""}`)];
      input = h("select", { ...shared, onchange: () => send(input.value) }, none, options.map((option) => h("option", { value: option }, option)));
      input.value = each.value ?? "";
    } else {
      const type = { number: "number" }[each.input] ?? "text";
      input = h("input", { ...shared, type, step: type === "number" ? "any" : null, placeholder: each.default || (each.required ? "required" : ""),
        required: each.required, value: each.value ?? "", onchange: () => send(input.value.trim()) });
    }
    return h("div", { class: `field ${each.value === null ? "unset" : ""}` },
      h("label", { for: id }, each.path.at(-1), each.required ? h("span", { class: "must" }, " required") : null), input,
      h("p", { class: "small", id: `${id}-about` }, each.about, each.kind && each.kind !== "text" ? h("span", { class: "kind" }, ` ${each.kind}`) : null));
  }

  function adder(section) {
    const input = h("input", { type: "text", placeholder: "name", "aria-label": `Name of a new table in ${section.path.join(".")}` });
    const add = () => {
      const name = input.value.trim();
      if (!/^[\w-]+$/.test(name)) toast("a name has letters, digits, - and _", "bad");
      else change(starter(section.path.join("."), name));
    };
    return h("div", { class: "row add" }, input, h("button", { type: "button", class: "quiet", onclick: add }, "Add"));
  }
  return { element: root, draw };
}

const STARTERS = {
  nodes: { count: ["number", "1"] },
  "workload.publish": { every: ["text", "10 s"] },
  "workload.subscribe": { interest: ["choice", "zone"] },
  "workload.request": { every: ["text", "60 s"] },
};

function starter(path, name) {
  const first = STARTERS[path] ?? { group: ["text", "*"] };
  return Object.entries(first).map(([key, [input, value]]) => ({ path: [...path.split("."), name, key], input, value }));
}
