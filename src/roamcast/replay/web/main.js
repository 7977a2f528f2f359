// The viewer: reads the packed runs, holds the state, draws when something changed.

import { Air } from "./air.js";
import { drawChart, listCharts } from "./charts.js";
import { palette } from "./colours.js";
import { make, sharpen, tellCount, tellTime } from "./dom.js";
import { findJourney } from "./journey.js";
import { readLink, writeLink } from "./link.js";
import { listEntries, LOG_KINDS, makeEntries } from "./log.js";
import { drawMap, radiusOf } from "./map.js";
import { makeEvent, makeNode, makeOverview } from "./panel.js";
import { Run, upper } from "./run.js";
import { searchEvents } from "./search.js";
import { drawTimeline, scrub } from "./timeline.js";
import { decodeBase64, unpack } from "./unpack.js";
import { followPointers, View } from "./view.js";

const find = (id) => document.getElementById(id);
const CATEGORY_NAMES = ["event", "subscription", "routing", "control"];
const LAYERS = {
  range: "radio range", sense: "carrier sense", receptions: "nodes in range", drops: "losses and drops", labels: "node numbers", trails: "trails (60 s)", links: "links",
};
const SLOW = 0.05; // speed at which an event is shown
const KEYS = [
  ["Space", "play or pause"], [". ,", "next, previous frame"], ["← →", "one second back, forward; with Shift ten"], ["[ ]", "slower, faster"],
  ["+ - 0", "zoom in, out, whole area"], ["N P", "next, previous event"], ["F", "follow the chosen node"], ["T", "trails"], ["/", "search"], ["Esc", "close event and node"],
];

async function open() {
  const text = find("runs").textContent;
  const { header, read } = await unpack(text.trim() ? decodeBase64(text) : await (await fetch("runs")).arrayBuffer());
  const runs = header.runs.map((told, number) => new Run(told, read, number));
  return new Replay(runs, runs.map((run) => new Air(run, read)));
}

class Replay {
  constructor(runs, airs) {
    this.runs = runs;
    this.airs = airs;
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.chosen = runs.map(() => null);
    this.state = {
      t: firstMoment(runs[0]), playing: false, speed: 0.2, event: -1, node: -1, follow: false, active: 0, only: false, tab: "overview", colourBy: "group", cause: -1,
      found: null, dark: false, still: matchMedia("(prefers-reduced-motion: reduce)").matches, categories: new Set(CATEGORY_NAMES),
      layers: { range: true, sense: true, receptions: true, drops: true, labels: runs[0].nodes <= 80, trails: false, links: false },
    };
    this.logKinds = new Set(["published", "delivered", "dropped", "sent"]);
    this.logOnly = { node: false, event: false };
    this.view = new View(...runs[0].ground.area);
    this.panes = runs.map((run, number) => this.makePane(run, number));
    this.dirty = this.panelDirty = true;
    this.drawn = 0;
    this.wire();
    this.setTheme();
    this.setSpeed(this.state.speed);
    this.makeControls();
    this.followLink();
    let before = performance.now();
    const tick = (now) => {
      this.advance(Math.min((now - before) / 1000, 0.25));
      before = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  get run() {
    return this.runs[this.state.active];
  }

  makePane(run, number) {
    const canvas = make("canvas", { role: "img", tabIndex: 0, "aria-label": `Map of ${run.scenario} under ${run.name}` });
    const swatch = make("span", { className: "swatch" });
    const caption = make("figcaption", {}, swatch, run.name, make("small", {}, tellRate(run)));
    const figure = make("figure", { className: "pane" }, canvas, caption);
    find("panes").append(figure);
    find("panes").className = this.runs.length === 1 ? "one" : "";
    followPointers(canvas, this.view, (dragged) => { if (dragged) this.state.follow = false; this.dirty = true; }, (px, py) => this.tap(number, px, py));
    canvas.addEventListener("dblclick", () => { Object.assign(this.state, { active: number, only: !this.state.only }); this.changed(); });
    return { canvas, figure, swatch };
  }

  tap(number, px, py) {
    const run = this.runs[number], [x, y] = this.view.place(px, py);
    this.state.active = number;
    let best = -1, nearest = (radiusOf(run, this.view) + 12) / this.view.scale;
    for (let node = 0; node < run.nodes; node++) {
      const apart = Math.hypot(run.x[node] - x, run.y[node] - y);
      if (apart < nearest) [best, nearest] = [node, apart];
    }
    this.chooseNode(best);
  }

  // What panels and keys ask for.

  goTo(t) {
    this.state.t = Math.min(Math.max(t, 0), this.run.duration);
    this.changed();
  }

  play(on = !this.state.playing) {
    if (on && this.state.t >= this.run.duration) this.state.t = 0;
    this.state.playing = on;
    this.changed();
  }

  setSpeed(speed) {
    this.state.speed = Math.min(Math.max(speed, 0.01), 100);
    find("speed").value = Math.log10(this.state.speed);
    find("pace").textContent = `${Number(this.state.speed.toPrecision(2))}×`;
    this.dirty = true;
  }

  stepFrame(forward) {
    const times = this.airs.map((air) => air.step(this.state.t, forward)).filter((time) => time !== undefined);
    if (times.length) this.goTo((forward ? Math.min : Math.max)(...times));
    this.play(false);
  }

  chooseNode(node, t) {
    this.state.node = node;
    if (node < 0) this.state.follow = false;
    if (t !== undefined) this.state.t = t;
    if (node >= 0 && this.state.event < 0) this.state.tab = "node";
    else if (node < 0 && this.state.tab === "node") this.state.tab = "overview";
    this.changed();
  }

  chooseCause(cause) {
    this.state.cause = cause;
    this.changed();
  }

  follow(on) {
    this.state.follow = on && this.state.node >= 0;
    if (this.state.follow && this.view.zoom < 1.8) this.view.zoom = 2.2;
    this.changed();
  }

  async chooseEvent(event, node = -1, t) {
    Object.assign(this.state, { event, node, playing: false, tab: event < 0 ? "overview" : "event" });
    const name = event < 0 ? "" : this.run.eventName(event);
    const asked = (this.asked = {});
    const chosen = await Promise.all(this.runs.map((run, number) => (event < 0 ? null : this.look(run, this.airs[number], run.eventNumbers.get(name)))));
    if (this.asked !== asked) return; // another was chosen meanwhile
    this.chosen = chosen;
    if (event >= 0) this.state.t = t ?? Math.min(this.chosen[this.state.active].end, this.run.duration);
    this.changed();
  }

  async look(run, air, event) {
    if (event === undefined) return null;
    const passage = await air.passage(event);
    const steps = findJourney(run, event, passage), published = run.publications.time[event];
    const last = Math.max(published, ...passage.copies.map((copy) => copy.time + copy.airtime), ...[...steps.values()].map((step) => step.time));
    const lost = new Map(run.lossesOf(event).map((loss) => [loss.node, loss]));
    return { event, steps, wants: new Set(run.wants(event)), lost, got: run.deliveredTo(event), end: Math.min(last, published + 60) + 1e-4 };
  }

  stepEvent(by) {
    const event = Math.min(Math.max(this.state.event + by, 0), this.run.events - 1);
    if (this.run.events) this.chooseEvent(event);
  }

  playEvent() {
    this.setSpeed(SLOW);
    this.goTo(this.run.publications.time[this.state.event]);
    this.play(true);
  }

  search(text) {
    if (!text.trim()) this.state.found = null;
    else {
      const { events, how } = searchEvents(this.run, text);
      this.state.found = { events, how, text: text.trim() };
      if (events?.length === 1) return void this.chooseEvent(events[0]);
    }
    this.state.tab = "overview";
    return this.changed();
  }

  changed() {
    this.dirty = this.panelDirty = this.linkDirty = true;
  }

  // Drawing.

  advance(passed) {
    const { state } = this;
    if (state.playing && this.airs.every((air) => air.ready(state.t, state.t + state.speed))) {
      state.t = Math.min(state.t + passed * state.speed, this.run.duration);
      if (state.t >= this.run.duration) this.play(false);
      this.dirty = true;
    }
    if (this.dirty) this.draw();
    const now = performance.now();
    const lively = state.tab !== "overview" && state.playing && now - (this.panelTime ?? 0) > 250;
    if ((this.panelDirty || lively) && !this.pressing) {
      this.panelTime = now;
      this.drawPanel();
    }
    if (this.linkDirty && now - (this.linkTime ?? -1e9) > 300) {
      this.linkDirty = false;
      this.linkTime = now;
      this.link = writeLink(this.run, state);
      try { history.replaceState(null, "", this.link); } catch { /* a sandbox may forbid it */ }
    }
  }

  draw() {
    const { state, view, colours } = this;
    this.dirty = false;
    this.drawn++;
    this.arrange();
    this.runs.forEach((run, number) => {
      if (this.panes[number].figure.hidden) return;
      this.panes[number].swatch.style.setProperty("--c", colours.runs[number]);
      run.moveTo(state.t);
      const there = this.airs[number].ready(state.t - state.speed, state.t);
      find("loading").textContent = there ? "" : "loading ...";
      const { pen, width, height } = sharpen(this.panes[number].canvas);
      view.resize(width, height);
      if (state.follow && state.node < run.nodes) view.centre = [run.x[state.node], run.y[state.node]];
      drawMap(pen, view, run, this.airs[number], state, this.chosen[number], colours);
      this.panes[number].figure.classList.toggle("active", number === state.active);
    });
    drawTimeline(find("timeline"), this.run, state, this.chosen[state.active], colours);
    for (const each of this.charts) {
      const now = drawChart(each.canvas, each.chart, this.runs, state, colours), told = now.join(" ");
      if (told === each.told) continue;
      each.told = told;
      each.label.replaceChildren(...now.map((words, number) => make("span", { style: this.runs.length > 1 ? { "--c": colours.runs[number] } : {} }, words)));
    }
    find("clock").textContent = tellTime(state.t);
    find("timeline").setAttribute("aria-valuenow", state.t.toFixed(3));
    find("timeline").setAttribute("aria-valuetext", tellTime(state.t));
    find("play").classList.toggle("on", state.playing);
    find("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  }

  /** Arranges the maps in as many columns as show them largest; only the active one if asked. */
  arrange() {
    const { width, height } = find("panes").getBoundingClientRect(), [wide, tall] = this.run.ground.area;
    const count = this.state.only ? 1 : this.runs.length;
    const scale = (columns) => Math.min(width / columns / wide, height / Math.ceil(count / columns) / tall);
    let best = 1;
    for (let columns = 2; columns <= count; columns++) if (scale(columns) > scale(best)) best = columns;
    find("panes").style.setProperty("--columns", best);
    this.panes.forEach(({ figure }, number) => { figure.hidden = this.state.only && number !== this.state.active; });
  }

  drawPanel() {
    const { state, run } = this;
    this.panelDirty = false;
    for (const tab of ["overview", "event", "node", "log"]) {
      find(`tab-${tab}`).setAttribute("aria-selected", String(tab === state.tab));
      find(`tab-${tab}`).tabIndex = tab === state.tab ? 0 : -1;
    }
    find("log-filters").hidden = state.tab !== "log";
    const panel = find("panel"), held = panel.contains(document.activeElement);
    panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
    const chosen = this.chosen[state.active];
    const content = {
      overview: () => makeOverview(run, state, this),
      event: () => makeEvent(this.runs, run, state, chosen, this),
      node: () => makeNode(run, state, this),
      log: () => [make("ul", { className: "log" }, ...makeEntries(run, listEntries(run, this.airs[state.active], state, this.logKinds, this.logOnly.node, this.logOnly.event), (entry) => this.chooseEntry(entry)))],
    }[state.tab]();
    const scrolled = panel.dataset.tab === state.tab ? panel.scrollTop : 0;
    panel.dataset.tab = state.tab;
    panel.replaceChildren(...content);
    panel.scrollTop = scrolled;
    if (held) panel.focus({ preventScroll: true });
    this.drawLegend();
  }

  chooseEntry(entry) {
    if (entry.event >= 0) this.chooseEvent(entry.event, entry.node, entry.time);
    else this.chooseNode(entry.node, entry.time);
  }

  drawLegend() {
    const { colours, state, run } = this, items = [];
    const add = (words, colour, shape = "", border = "") => items.push(make("li", {}, make("i", { className: shape, style: { "--c": colour, ...(border ? { "--b": border } : {}) } }), words));
    const sign = (words, colour, letter) => items.push(make("li", {}, make("i", { className: "mark", style: { "--c": colour } }, letter), words));
    if (this.chosen[state.active]) {
      add("publisher", colours.event);
      add("has it", colours.has);
      add("relay", colours.relay);
      add("wants it", colours.ground, "", colours.wants);
      sign("lost it", colours.lost, "✕");
    } else if (state.colourBy.startsWith("state:")) {
      const name = state.colourBy.slice(6), range = run.stateRange[name];
      if (name === run.servedBy) add(`${name}: one colour each`, colours.groups[0]);
      else if (range) items.push(make("li", {}, String(range.low), make("i", { className: "scale" }), `${range.high} ${name}`));
    } else {
      run.ground.groups.forEach((group, i) => add(`${group.name} (${group.count})`, colours.groups[i % colours.groups.length]));
      add("publishes", colours.ground, "", colours.ink);
    }
    for (const category of CATEGORY_NAMES) if (state.categories.has(category)) add(`${category} frame`, colours[category], "wave");
    sign("collision", colours.lost, "✕");
    sign("queue full", colours.control, "■");
    sign("router drop", colours.faint, "▲");
    if (run.hasOutages) add("down", colours.off);
    find("legend").replaceChildren(...items);
  }

  // Controls.

  setTheme(chosen) {
    const theme = chosen ?? (this.media.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    this.state.dark = theme === "dark";
    this.colours = palette(this.state.dark);
    this.dirty = this.panelDirty = true;
  }

  makeControls() {
    const { state, runs } = this;
    const names = [...new Set(runs.flatMap((run) => run.states.names))];
    find("colour").append(make("option", { value: "group" }, "group"), ...names.map((name) => make("option", { value: `state:${name}` }, `state: ${name}`)));
    const check = (label, checked, set) => make("label", {}, make("input", { type: "checkbox", checked, onchange: (event) => { set(event.target.checked); this.changed(); } }), label);
    find("layers").append(...Object.entries(LAYERS).map(([key, label]) => check(label, state.layers[key], (on) => { state.layers[key] = on; })));
    if (runs.length > 1) find("layers").append(check("only the active map", state.only, (on) => { state.only = on; }));
    const member = (set, key) => (on) => { if (on) set.add(key); else set.delete(key); };
    find("categories").append(...CATEGORY_NAMES.map((each) => check(each, true, member(state.categories, each))));
    find("log-filters").append(...LOG_KINDS.map((each) => check(each, this.logKinds.has(each), member(this.logKinds, each))),
      check("only chosen node", false, (on) => { this.logOnly.node = on; }), check("only chosen event", false, (on) => { this.logOnly.event = on; }));
    find("filters").append(...Object.keys(this.run.filters).slice(0, 200).map((filter) => make("option", { value: filter })));
    find("timeline").setAttribute("aria-valuemax", String(this.run.duration));
    this.makeCharts();
    const keys = KEYS.flatMap(([key, words]) => [make("dt", {}, ...key.split(" ").map((each) => make("kbd", {}, each))), make("dd", {}, words)]);
    find("keys").append(make("h2", {}, "Keys"), make("dl", {}, ...keys), ...explain(this.runs),
      make("button", { type: "button", onclick: () => find("keys").close() }, "Close"));
  }

  makeCharts() {
    this.charts = listCharts(this.runs, this.state.colourBy).map((chart) => {
      const canvas = make("canvas", { role: "img", "aria-label": `${chart.title}: ${chart.about}` }), label = make("span", {});
      scrub(canvas, (share) => this.goTo(share * this.run.duration));
      return { chart: { ...chart }, canvas, label, told: "", figure: make("figure", { className: "chart", title: chart.about }, make("figcaption", {}, make("b", {}, chart.title), label), canvas) };
    });
    find("charts").replaceChildren(...this.charts.map(({ figure }) => figure));
  }

  wire() {
    const press = (id, act) => find(id).addEventListener("click", act);
    press("play", () => this.play());
    press("back", () => this.stepFrame(false));
    press("next", () => this.stepFrame(true));
    press("closer", () => { this.view.zoomAt(1.5); this.dirty = true; });
    press("farther", () => { this.view.zoomAt(1 / 1.5); this.dirty = true; });
    press("fit", () => { this.view.fit(); this.state.follow = false; this.dirty = true; });
    press("theme", () => this.setTheme(this.state.dark ? "light" : "dark"));
    press("keys-open", () => find("keys").showModal());
    for (const tab of ["overview", "event", "node", "log"]) press(`tab-${tab}`, () => { this.state.tab = tab; this.panelDirty = true; });
    document.querySelector(".tabs").addEventListener("keydown", (event) => this.moveTab(event));
    find("speed").addEventListener("input", (event) => this.setSpeed(10 ** Number(event.target.value)));
    find("colour").addEventListener("change", (event) => { this.state.colourBy = event.target.value; this.makeCharts(); this.changed(); });
    find("search").addEventListener("submit", (event) => { event.preventDefault(); this.search(find("query").value); });
    scrub(find("timeline"), (share) => this.goTo(share * this.run.duration));
    find("panel").addEventListener("pointerdown", () => { this.pressing = true; });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => { this.pressing = false; }));
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => { if (location.hash !== this.link) this.followLink(); });
    this.media.addEventListener("change", () => this.setTheme());
    new ResizeObserver(() => { this.dirty = true; }).observe(document.body);
    for (const air of this.airs) air.onLoad = () => { this.dirty = true; };
  }

  moveTab(event) {
    const tabs = [...document.querySelectorAll(".tabs [role=tab]")], by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.stopPropagation();
    const next = tabs[(tabs.indexOf(document.activeElement) + by + tabs.length) % tabs.length];
    next.click();
    next.focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || find("keys").open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.key !== "Escape") return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    const by = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => this.play(), ".": () => this.stepFrame(true), ",": () => this.stepFrame(false),
      ArrowRight: () => this.goTo(this.state.t + by), ArrowLeft: () => this.goTo(this.state.t - by),
      Home: () => this.goTo(0), End: () => this.goTo(this.run.duration),
      "[": () => this.setSpeed(this.state.speed / 2), "]": () => this.setSpeed(this.state.speed * 2),
      "+": () => this.view.zoomAt(1.25), "=": () => this.view.zoomAt(1.25), "-": () => this.view.zoomAt(0.8), 0: () => this.view.fit(),
      n: () => this.stepEvent(1), p: () => this.stepEvent(-1), f: () => this.follow(!this.state.follow),
      t: () => { this.state.layers.trails = !this.state.layers.trails; }, "/": () => find("query").focus(), "?": () => find("keys").showModal(),
      Escape: () => { this.state.node = -1; this.state.follow = false; this.chooseEvent(-1); find("view").open = false; },
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
    this.dirty = true;
  }

  followLink() {
    const told = readLink(location.hash), { state } = this;
    if (told.active !== undefined && this.runs[told.active]) state.active = told.active;
    if (told.only) state.only = true;
    if (told.speed) this.setSpeed(told.speed);
    const known = find("colour").querySelectorAll("option");
    if ([...known].some((option) => option.value === told.colourBy)) { find("colour").value = state.colourBy = told.colourBy; this.makeCharts(); }
    const node = told.node >= 0 && told.node < this.run.nodes ? Math.floor(told.node) : -1;
    const event = told.event === undefined ? -1 : (this.run.eventNumbers.get(told.event) ?? -1);
    if (told.event !== undefined && event < 0) state.found = { events: null, how: "No event of this name was published.", text: told.event };
    if (event >= 0) this.chooseEvent(event, node, told.t);
    else if (node >= 0) this.chooseNode(node, told.t);
    else if (told.t !== undefined) this.goTo(told.t);
    if (told.follow) this.follow(true);
    this.changed();
  }
}

/** Returns a moment at which something happens: the first delivery after the warm-up, else the warm-up's end. */
function firstMoment(run) {
  const at = upper(run.deliveries.time, run.warmup);
  return Math.min(run.deliveries.time[at] ?? run.warmup, run.duration);
}

function tellRate(run) {
  const { expected, lost } = run.counted;
  return expected && !run.losses.untold ? `${((100 * (expected - lost)) / expected).toFixed(1)} % delivered` : `${tellCount(run.frames)} frames`;
}

/** Returns what the replay shows and what the facts do not tell. */
function explain(runs) {
  const lines = [
    "Nodes move exactly along the legs in the facts. Circles are frames: they grow to the radio range and, fainter, to the carrier-sense range while the frame is shown; the growth is drawn, not measured.",
    "A unicast and its retries are one row in the facts, at the time of its first frame. RTS, CTS and ACK frames have no rows; they count in the airtime.",
    "Nodes in range of a broadcast are computed from the movement. Losses are recorded for messages that carry events; a copy that a node had already is not recorded.",
    "The length of link queues is not in the facts; drops of full queues are.",
  ];
  const parts = [make("h2", {}, "What is shown")];
  for (const run of runs) parts.push(make("p", {}, `${run.name}: ${run.scenario}, seed ${run.seed}, ${tellCount(run.nodes)} nodes, ${run.duration} s, ${tellCount(run.frames)} transmissions.`));
  return [...parts, make("ul", {}, ...lines.map((line) => make("li", {}, line)))];
}

open().then(
  (replay) => { globalThis.replay = replay; document.documentElement.dataset.ready = "yes"; },
  (error) => { find("panel").replaceChildren(make("p", {}, `This file cannot be read: ${error.message}`)); document.documentElement.dataset.ready = "failed"; throw error; },
);
