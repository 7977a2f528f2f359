// Placing nodes by hand: click on the map to add a node, drag or use the arrow keys to move it, Delete to remove it.

import { h, put } from "./dom.js";
import { describeMap, drawMap } from "./map.js";

/** Returns the map of an editor; `change` is called with changes of keys. */
export function placingMap(change) {
  const holder = h("div", { class: "holder" });
  const chosen = h("select", { "aria-label": "Group of the nodes that are placed" });
  const hint = h("p", { class: "small" });
  const x = h("input", { type: "number", min: 0, "aria-label": "x in metres", placeholder: "x [m]" });
  const y = h("input", { type: "number", min: 0, "aria-label": "y in metres", placeholder: "y [m]" });
  const add = h("button", { type: "button", class: "quiet", onclick: () => {
    if (x.value !== "" && y.value !== "") put_at([...places(), [Number(x.value), Number(y.value)]]);
  } }, "Place");
  let map = null;
  let armed = false;

  const group = () => map?.groups.find((each) => each.name === chosen.value);
  const places = () => (group()?.placed ? group().at : []);

  function put_at(list) {
    const path = ["nodes", chosen.value];
    const limited = list.map(([a, b]) => [Math.min(Math.max(a, 0), map.width), Math.min(Math.max(b, 0), map.height)]);
    const text = JSON.stringify(limited.map((each) => each.map((value) => `${Math.round(10 * value) / 10} m`)));
    const changes = [{ path: [...path, "at"], input: "toml", value: limited.length ? text : null },
      { path: [...path, "count"], input: "number", value: String(Math.max(limited.length, 1)) }];
    if (!group().placed && group().mobility !== "static") changes.push({ path: [...path, "mobility"], input: "choice", value: "static" }, { path: [...path, "speed"], input: "toml", value: null });
    change(changes);
  }

  function draw(next) {
    if (next === null) {
      holder.classList.add("stale");
      return;
    }
    holder.classList.remove("stale");
    map = next;
    const before = chosen.value;
    put(chosen, map.groups.map((each) => h("option", { value: each.name }, `${each.name} (${each.count})`)));
    const fixed = map.groups.find((each) => each.mobility === "static") ?? map.groups[0];
    chosen.value = map.groups.some((each) => each.name === before) ? before : fixed.name;
    const picture = drawMap(map, { label: `Map: ${describeMap(map)}` });
    put(holder, picture);
    attach(picture);
    tell();
  }

  function tell() {
    const moving = group() && group().mobility !== "static";
    hint.textContent = !armed ? "" : moving
      ? `${chosen.value} moves; placing its nodes makes it static.`
      : "Click adds a node, dragging or arrow keys move one, Delete removes it.";
  }

  function attach(picture) {
    picture.classList.toggle("placing", armed);
    const flip = (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      return [point.x, map.height - point.y];
    };
    let dragged = null;
    picture.addEventListener("pointerdown", (event) => {
      const { group: name, index } = event.target.dataset ?? {};
      if (armed && name === chosen.value && group().placed) {
        dragged = { circle: event.target, index: Number(index), moved: false };
        picture.setPointerCapture(event.pointerId);
        event.preventDefault();
      }
    });
    picture.addEventListener("pointermove", (event) => {
      if (!dragged) return;
      const [a, b] = flip(event);
      dragged.moved = true;
      dragged.circle.setAttribute("cx", a);
      dragged.circle.setAttribute("cy", map.height - b);
    });
    picture.addEventListener("pointerup", (event) => {
      if (!dragged) return;
      const { index, moved } = dragged;
      dragged = null;
      if (moved) put_at(places().map((each, number) => (number === index ? flip(event) : each)));
    });
    picture.addEventListener("click", (event) => {
      if (!armed || event.target.dataset?.group === chosen.value) return;
      put_at([...places(), flip(event)]);
    });
    if (!armed || !group()?.placed) return;
    for (const circle of picture.querySelectorAll(".node")) {
      if (circle.dataset.group !== chosen.value) continue;
      const index = Number(circle.dataset.index);
      circle.setAttribute("tabindex", "0");
      circle.setAttribute("role", "button");
      circle.setAttribute("aria-label", `${chosen.value} ${index + 1} at ${places()[index].join(", ")} m`);
      circle.addEventListener("keydown", (event) => {
        const step = (event.shiftKey ? 0.1 : 0.01) * Math.max(map.width, map.height);
        const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
        if (way) put_at(places().map(([a, b], number) => (number === index ? [a + way[0], b + way[1]] : [a, b])));
        else if (event.key === "Delete" || event.key === "Backspace") put_at(places().filter((_, number) => number !== index));
        else return;
        event.preventDefault();
      });
    }
  }

  const controls = h("div", { class: "row" }, h("span", { class: "small" }, "Place nodes of"), chosen, x, y, add);
  controls.hidden = true;
  chosen.addEventListener("change", () => draw(map));
  const arm = h("button", { type: "button", class: "quiet", "aria-pressed": "false", onclick: () => {
    armed = !armed;
    arm.setAttribute("aria-pressed", String(armed));
    controls.hidden = !armed;
    if (map) draw(map);
  } }, "Place nodes by hand");
  return { element: h("div", { class: "placing-map" }, holder, h("div", { class: "row" }, arm, controls), hint), draw };
}
