// A text editor for TOML: line numbers, colours, and marks at lines with problems.

import { h, put } from "./dom.js";

const TOKEN = /(#.*$)|("(?:[^"\\]|\\.)*"|'[^']*')|(^\s*\[.*\]\s*$)|(^\s*[\w."'-]+(?=\s*=))|\b(true|false|\d[\d._]*)\b/gm;
const KINDS = ["comment", "string", "table", "key", "value"];

/** Returns an editor; `changed` is called with the text when the user changes it. */
export function codeEditor(text, changed) {
  const paint = h("pre", { class: "paint", "aria-hidden": "true" });
  const gutter = h("pre", { class: "gutter", "aria-hidden": "true" });
  const area = h("textarea", {
    spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "Scenario as TOML",
    oninput: () => {
      draw();
      changed(area.value);
    },
  });
  let marks = new Set();
  function draw() {
    put(paint, colours(area.value), "\n");
    const lines = area.value.split("\n").length;
    put(gutter, Array.from({ length: lines }, (_, index) =>
      h("span", { class: marks.has(index + 1) ? "bad" : "" }, `${index + 1}\n`)));
    area.rows = lines + 1;
  }
  function set(value) {
    if (value === area.value) return;
    area.value = value;
    draw();
  }
  area.value = text;
  draw();
  return {
    element: h("div", { class: "code" }, gutter, h("div", { class: "pane" }, paint, area)),
    get text() {
      return area.value;
    },
    set,
    mark(lines) {
      marks = new Set(lines);
      draw();
    },
    goTo(line) {
      const lines = area.value.split("\n");
      const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(start, start + lines[line - 1].length);
    },
  };
}

function colours(text) {
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    parts.push(text.slice(last, found.index));
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)];
    parts.push(h("span", { class: kind }, found[0]));
    last = found.index + found[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}
