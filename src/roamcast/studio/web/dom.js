// Elements: texts become text nodes, so that nothing a scenario names is executed.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Returns an HTML element: h("p", {class: "small"}, "text", child). */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Returns an SVG element. */
export function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Replaces the children of an element. */
export function put(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

let count = 0;
/** Returns an id for a label and its input. */
export function newId(word) {
  count += 1;
  return `${word}-${count}`;
}

/** Shows a message for some seconds. */
export function toast(text, kind = "") {
  const shown = h("div", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(shown);
  setTimeout(() => shown.remove(), 6000);
}

/** Returns a function that calls `work` once, after calls have stopped for `wait` milliseconds. */
export function later(wait, work) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}

/** Returns a word of a command line, quoted if that is needed. */
export function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

/** Returns a block with a command line and a button that copies it. */
export function commandLine(command, label = "The same in a terminal") {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      toast("copied");
    } catch {
      toast("cannot copy here; select the text", "bad");
    }
  };
  return h("div", { class: "command" }, h("span", { class: "small" }, label), h("div", { class: "row" },
    h("code", {}, command), h("button", { type: "button", class: "quiet", onclick: copy }, "Copy")));
}

/** Returns tabs; `parts` are [key, title, make], and `make` returns the content when the tab is opened. */
export function tabs(label, parts, chosen, opened) {
  const panel = h("div", { role: "tabpanel", class: "panel", tabindex: "-1" });
  const buttons = parts.map(([key, title]) => h("button", {
    type: "button", role: "tab", id: `tab-${key}`, onclick: () => show(key),
  }, title));
  const list = h("div", { role: "tablist", "aria-label": label, class: "tabs", onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const here = buttons.findIndex((each) => each.getAttribute("aria-selected") === "true");
    const next = (here + step + parts.length) % parts.length;
    show(parts[next][0]);
    buttons[next].focus();
  } }, buttons);
  function show(key, given) {
    parts.forEach(([name], number) => {
      buttons[number].setAttribute("aria-selected", String(name === key));
      buttons[number].tabIndex = name === key ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${key}`);
    put(panel, parts.find(([name]) => name === key)[2](given));
    opened?.(key);
  }
  show(parts.some(([key]) => key === chosen) ? chosen : parts[0][0]);
  return { element: h("div", {}, list, panel), show };
}
