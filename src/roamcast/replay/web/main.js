// The viewer: reads the packed runs, holds the state, draws when something changed.

import { Air } from "./air.js";
import { firstMoment } from "./about.js";
import { drawChart } from "./charts.js";
import { palette } from "./colours.js";
import { makeCharts, makeControls, wire } from "./controls.js";
import { find, make, sharpen, formatTime } from "./dom.js";
import { findJourney, followEvent } from "./journey.js";
import { readLink, writeLink } from "./link.js";
import { CATEGORY_NAMES, drawLegend } from "./legend.js";
import { listEntries, makeEntries } from "./log.js";
import { drawMap } from "./map.js";
import { arrange, makePane, NARROW } from "./panes.js";
import { makeEvent, makeNode, makeOverview } from "./panel.js";
import { Run, upper } from "./run.js";
import { searchEvents } from "./search.js";
import { findMesh } from "./structure.js";
import { drawTimeline } from "./timeline.js";
import { decodeBase64, unpack } from "./unpack.js";
import { View } from "./view.js";

const RECENT = 6; // events whose ways are drawn together
const SLOW = 0.05; // speed at which an event is shown
async function open() {
  const text = find("runs").textContent;
  const { header, read } = await unpack(text.trim() ? decodeBase64(text) : await (await fetch("runs")).arrayBuffer());
  const runs = header.runs.map((data, number) => new Run(data, read, number));
  return new Replay(runs, runs.map((run) => new Air(run, read)));
}

class Replay {
  constructor(runs, airs) {
    this.runs = runs;
    this.airs = airs;
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.chosen = runs.map(() => null);
    this.ways = [];
    this.structure = { findMesh };
    this.state = {
      t: firstMoment(runs[0]), playing: false, speed: 0.2, event: -1, node: -1, follow: false, active: 0, only: false, tab: "overview", colourBy: "group", cause: -1, waiting: "",
      found: null, dark: false, still: matchMedia("(prefers-reduced-motion: reduce)").matches, categories: new Set(CATEGORY_NAMES),
      layers: { range: true, sense: true, receptions: true, drops: true, labels: runs[0].nodes <= 80, trails: false, links: false, ways: false, mesh: false },
    };
    this.logKinds = new Set(["published", "delivered", "dropped", "sent"]);
    this.logOnly = { node: false, event: false };
    this.view = new View(...runs[0].ground.area);
    this.panes = runs.map((run, number) => makePane(this, run, number));
    this.dirty = this.panelDirty = true;
    this.drawn = 0;
    wire(this);
    this.setTheme();
    this.setSpeed(this.state.speed);
    makeControls(this);
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
    find("speed").setAttribute("aria-valuetext", find("pace").textContent);
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

  /** Shows a run in the panel; a chosen event stays chosen, as the run numbers it. */
  activate(number) {
    const { state } = this, name = state.event >= 0 ? this.run.eventName(state.event) : "";
    if (number === state.active) return;
    Object.assign(state, { active: number, cause: -1, found: null });
    if (name) state.event = this.run.eventNumber(name);
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
    const name = event < 0 ? "" : this.run.eventName(event);
    Object.assign(this.state, { event, node, playing: false, tab: event < 0 ? "overview" : "event", waiting: event < 0 ? "" : `Reading event ${name} …` });
    this.chosen = this.runs.map(() => null);
    if (event >= 0 && innerWidth <= NARROW) document.querySelector(".stage").scrollIntoView(); // a narrow page lists events below the map
    this.changed();
    const asked = (this.asked = {});
    try {
      const chosen = await Promise.all(this.runs.map((run, number) => (event < 0 ? null : followEvent(run, this.airs[number], run.eventNumber(name)))));
      if (this.asked !== asked) return; // another was chosen meanwhile
      Object.assign(this, { chosen });
      this.state.waiting = "";
      if (event >= 0) this.state.t = t ?? Math.min(this.chosen[this.state.active].end, this.run.duration);
    } catch (error) {
      if (this.asked === asked) this.state.waiting = `Event ${name} cannot be shown: ${error.message}`;
    }
    this.changed();
  }

  /** Returns the ways of the last events before now, as far as they are known; asks for the others. */
  recentWays(run, number) {
    if (!this.state.layers.ways) return [];
    const last = upper(run.publications.time, this.state.t), known = (this.ways[number] ??= new Map()), found = [];
    for (let event = Math.max(last - RECENT, 0); event < last; event++) {
      if (known.get(event)) found.push(known.get(event));
      else if (!known.has(event)) {
        known.set(event, null);
        this.airs[number].passage(event).then((passage) => { known.set(event, findJourney(run, event, passage)); this.dirty = true; });
      }
    }
    return found;
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
      const node = /^node (\d+)$/.exec(text.trim())?.[1];
      if (node < this.run.nodes) return void this.chooseNode(Number(node));
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
    arrange(this);
    this.runs.forEach((run, number) => {
      if (this.panes[number].figure.hidden) return;
      this.panes[number].swatch.style.setProperty("--c", colours.runs[number]);
      run.moveTo(state.t);
      const there = this.airs[number].ready(state.t - state.speed, state.t);
      find("loading").textContent = there ? "" : "loading ...";
      const { pen, width, height } = sharpen(this.panes[number].canvas);
      view.resize(width, height);
      if (state.follow && state.node < run.nodes) view.centre = [run.x[state.node], run.y[state.node]];
      drawMap(pen, view, run, this.airs[number], state, this.chosen[number], this.recentWays(run, number), colours);
      this.panes[number].figure.classList.toggle("active", number === state.active);
    });
    drawTimeline(find("timeline"), this.run, state, this.chosen[state.active], colours);
    for (const each of this.charts) {
      const now = drawChart(each.canvas, each.chart, this.runs, state, colours), data = now.join(" ");
      if (data === each.data) continue;
      each.data = data;
      each.label.replaceChildren(...now.map((words, number) => make("span", { style: this.runs.length > 1 ? { "--c": colours.runs[number] } : {} }, words)));
    }
    find("clock").textContent = formatTime(state.t);
    find("timeline").setAttribute("aria-valuenow", state.t.toFixed(3));
    find("timeline").setAttribute("aria-valuetext", formatTime(state.t));
    find("play").classList.toggle("on", state.playing);
    find("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  }

  drawPanel() {
    const { state, run } = this;
    this.panelDirty = false;
    for (const tab of ["overview", "event", "node", "log"]) {
      find(`tab-${tab}`).setAttribute("aria-selected", String(tab === state.tab));
      find(`tab-${tab}`).tabIndex = tab === state.tab ? 0 : -1;
    }
    find("log-filters").hidden = state.tab !== "log";
    [...find("runs-shown").children].slice(0, -1).forEach((each, number) => {
      each.setAttribute("aria-pressed", String(number === state.active));
      each.firstChild.style.setProperty("--c", this.colours.runs[number % this.colours.runs.length]);
    });
    find("maps-shown").textContent = state.only ? "Show all maps" : "Show one map";
    find("strip").textContent = this.runs.length > 1 ? `Frames of ${run.name} by kind` : "Frames by kind";
    const panel = find("panel"), held = panel.contains(document.activeElement) ? document.activeElement.textContent : null;
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
    if (held !== null) ([...panel.querySelectorAll("button")].find((each) => each.textContent === held) ?? panel).focus({ preventScroll: true });
    drawLegend(this);
  }

  chooseEntry(entry) {
    if (entry.event >= 0) this.chooseEvent(entry.event, entry.node, entry.time);
    else this.chooseNode(entry.node, entry.time);
  }

  // Controls.

  setTheme(chosen) {
    const theme = chosen ?? (this.media.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    this.state.dark = theme === "dark";
    this.colours = palette(this.state.dark);
    this.dirty = this.panelDirty = true;
  }

  followLink() {
    const data = readLink(location.hash), { state } = this;
    if (data.active !== undefined && this.runs[data.active]) state.active = data.active;
    if (data.only) state.only = true;
    if (data.speed) this.setSpeed(data.speed);
    const known = find("colour").querySelectorAll("option");
    if ([...known].some((option) => option.value === data.colourBy)) { find("colour").value = state.colourBy = data.colourBy; makeCharts(this); }
    const node = data.node >= 0 && data.node < this.run.nodes ? Math.floor(data.node) : -1;
    const event = data.event === undefined ? -1 : this.run.eventNumber(data.event);
    if (data.event !== undefined && event < 0) state.found = { events: null, how: "No event of this name was published.", text: data.event };
    if (event >= 0) this.chooseEvent(event, node, data.t);
    else if (node >= 0) this.chooseNode(node, data.t);
    else if (data.t !== undefined) this.goTo(data.t);
    if (data.follow) this.follow(true);
    this.changed();
  }
}

open().then(
  (replay) => { globalThis.replay = replay; document.documentElement.dataset.ready = "yes"; },
  (error) => { find("panel").replaceChildren(make("p", {}, `This file cannot be read: ${error.message}`)); document.documentElement.dataset.ready = "failed"; throw error; },
);
