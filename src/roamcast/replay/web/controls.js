// Controls: menus, keys, buttons and charts around the map.

import { explain } from "./about.js";
import { listCharts } from "./charts.js";
import { find, make } from "./dom.js";
import { CATEGORY_NAMES } from "./legend.js";
import { LOG_KINDS } from "./log.js";
import { hasMesh } from "./structure.js";
import { scrub } from "./timeline.js";

const LAYERS = {
  range: "radio range", sense: "carrier sense", receptions: "nodes in range", drops: "losses and drops", labels: "node numbers", trails: "trails (60 s)", links: "links",
  ways: "routes of the last events (tree)", mesh: "mesh of forwarders",
};
const KEYS = [
  ["Space", "play or pause"], [". ,", "next, previous frame"], ["← →", "one second back, forward; with Shift ten"], ["[ ]", "slower, faster"],
  ["+ - 0", "zoom in, out, whole area"], ["N P", "next, previous event"], ["F", "follow the chosen node"], ["T", "trails"], ["/", "search"], ["Esc", "close event and node"],
];

/** Fills the menus, filters and charts, and the page about keys. */
export function makeControls(replay) {
  const { state, runs } = replay;
  const names = [...new Set(runs.flatMap((run) => run.states.names))];
  find("colour").append(make("option", { value: "group" }, "group"), ...names.map((name) => make("option", { value: `state:${name}` }, `state: ${name}`)));
  const check = (label, checked, set) => make("label", {}, make("input", { type: "checkbox", checked, onchange: (event) => { set(event.target.checked); replay.changed(); } }), label);
  find("layers").append(...Object.entries(LAYERS).filter(([key]) => key !== "mesh" || runs.some(hasMesh)).map(([key, label]) => check(label, state.layers[key], (on) => { state.layers[key] = on; })));
  const member = (set, key) => (on) => { if (on) set.add(key); else set.delete(key); };
  find("categories").append(...CATEGORY_NAMES.map((each) => check(each, true, member(state.categories, each))));
  find("log-filters").append(...LOG_KINDS.map((each) => check(each, replay.logKinds.has(each), member(replay.logKinds, each))),
    check("only chosen node", false, (on) => { replay.logOnly.node = on; }), check("only chosen event", false, (on) => { replay.logOnly.event = on; }));
  find("filters").append(...Object.keys(replay.run.filters).slice(0, 200).map((filter) => make("option", { value: filter })));
  find("timeline").setAttribute("aria-valuemax", String(replay.run.duration));
  makeCharts(replay);
  find("runs-shown").hidden = runs.length < 2;
  find("runs-shown").append(...runs.map((run, number) => make("button", { type: "button", onclick: () => replay.activate(number) }, make("span", { className: "swatch" }), run.name)),
    make("button", { type: "button", id: "maps-shown", onclick: () => { state.only = !state.only; replay.changed(); } }));
  for (const each of document.querySelectorAll("button[aria-label]")) each.title = each.getAttribute("aria-label");
  const keys = KEYS.flatMap(([key, words]) => [make("dt", {}, ...key.split(" ").map((each) => make("kbd", {}, each))), make("dd", {}, words)]);
  find("keys").append(make("h2", {}, "Keys"), make("dl", {}, ...keys), ...explain(replay.runs),
    make("button", { type: "button", onclick: () => find("keys").close() }, "Close"));
}

/** Makes the charts below the map. */
export function makeCharts(replay) {
  replay.charts = listCharts(replay.runs, replay.state.colourBy).map((chart) => {
    const canvas = make("canvas", { role: "img", "aria-label": `${chart.title}: ${chart.about}` }), label = make("span", {});
    scrub(canvas, (share) => replay.goTo(share * replay.run.duration));
    return { chart: { ...chart }, canvas, label, data: "", figure: make("figure", { className: "chart", title: chart.about }, make("figcaption", {}, make("b", {}, chart.title), label), canvas) };
  });
  find("charts").replaceChildren(...replay.charts.map(({ figure }) => figure));
}

/** Connects buttons, keys and pointers with the replay. */
export function wire(replay) {
  const press = (id, act) => find(id).addEventListener("click", act);
  press("play", () => replay.play());
  press("back", () => replay.stepFrame(false));
  press("next", () => replay.stepFrame(true));
  press("closer", () => { replay.view.zoomAt(1.5); replay.dirty = true; });
  press("farther", () => { replay.view.zoomAt(1 / 1.5); replay.dirty = true; });
  press("fit", () => { replay.view.fit(); replay.state.follow = false; replay.dirty = true; });
  press("theme", () => replay.setTheme(replay.state.dark ? "light" : "dark"));
  press("keys-open", openKeys);
  for (const tab of ["overview", "event", "node", "log"]) press(`tab-${tab}`, () => { replay.state.tab = tab; replay.panelDirty = true; });
  document.querySelector(".tabs").addEventListener("keydown", (event) => moveTab(event));
  find("speed").addEventListener("input", (event) => replay.setSpeed(10 ** Number(event.target.value)));
  find("colour").addEventListener("change", (event) => { replay.state.colourBy = event.target.value; makeCharts(replay); replay.changed(); });
  find("query").addEventListener("keydown", (event) => { // not a form: the studio's sandbox forbids to submit one
    if (event.key !== "Enter") return;
    event.preventDefault();
    replay.search(find("query").value);
  });
  scrub(find("timeline"), (share) => replay.goTo(share * replay.run.duration));
  find("panel").addEventListener("pointerdown", () => { replay.pressing = true; });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => { replay.pressing = false; }));
  addEventListener("keydown", (event) => pressKey(replay, event));
  addEventListener("hashchange", () => { if (location.hash !== replay.link) replay.followLink(); });
  replay.media.addEventListener("change", () => replay.setTheme());
  new ResizeObserver(() => { replay.dirty = true; }).observe(document.body);
  for (const air of replay.airs) air.onLoad = () => { replay.dirty = true; };
}

/** Opens the dialog at its first line: focus is on the button at its end. */
function openKeys() {
  find("keys").showModal();
  find("keys").scrollTop = 0;
}

function moveTab(event) {
  const tabs = [...document.querySelectorAll(".tabs [role=tab]")], by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  event.stopPropagation();
  const next = tabs[(tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length];
  next.click();
  next.focus();
}

function pressKey(replay, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find("keys").open) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.key !== "Escape") return;
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  const by = event.shiftKey ? 10 : 1;
  const acts = {
    " ": () => replay.play(), ".": () => replay.stepFrame(true), ",": () => replay.stepFrame(false),
    ArrowRight: () => replay.goTo(replay.state.t + by), ArrowLeft: () => replay.goTo(replay.state.t - by),
    Home: () => replay.goTo(0), End: () => replay.goTo(replay.run.duration),
    "[": () => replay.setSpeed(replay.state.speed / 2), "]": () => replay.setSpeed(replay.state.speed * 2),
    "+": () => replay.view.zoomAt(1.25), "=": () => replay.view.zoomAt(1.25), "-": () => replay.view.zoomAt(0.8), 0: () => replay.view.fit(),
    n: () => replay.stepEvent(1), p: () => replay.stepEvent(-1), f: () => replay.follow(!replay.state.follow),
    t: () => { replay.state.layers.trails = !replay.state.layers.trails; }, "/": () => find("query").focus(), "?": openKeys,
    Escape: () => { replay.state.node = -1; replay.state.follow = false; replay.chooseEvent(-1); find("view").open = false; },
  };
  const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
  replay.dirty = true;
}
