// The panel beside the map: causes of loss and search, one event, one node.

import { orderTree, pathTo } from "./journey.js";
import { make, formatCount, formatDuration, formatTime } from "./dom.js";

const MOST_ROWS = 200;
const MOST_WORST = 12;
const HELD = 0.1; // s between reception and delivery that are worth a sentence

const EVENT_HINT = "An event is named by its publisher and its number: 0/641 is event 641 of node 0.";

const section = (title, ...content) => make("section", {}, make("h3", {}, title), ...content);
const button = (label, onclick, properties = {}) => make("button", { type: "button", onclick, ...properties }, label);

/** Returns the overview: what was delivered, why the rest was lost, and what search and cause select. */
export function makeOverview(run, state, actions) {
  const { expected, lost } = run.counted, { unavailable, later } = run.losses, parts = [];
  if (state.found) parts.push(makeFound(run, state, actions));
  if (expected) {
    const after = run.warmup > 0 ? ` of events published after the warm-up (${run.warmup} s)` : "";
    parts.push(section("Delivered",
      make("p", { className: "big" }, `${((100 * (expected - lost)) / expected).toFixed(1)} %`),
      make("p", { className: "hint" }, `${formatCount(expected - lost)} of ${formatCount(expected)} expected deliveries${after}`)));
    if (lost && !unavailable && !later) parts.push(section(`${formatCount(lost)} losses by cause`, make("p", { className: "hint" }, "Choose a cause, then a case, to see the event on the map."), makeCauses(run, state, actions)));
    if (lost && later) parts.push(section("Events with most losses", make("p", { className: "hint" }, "Choose an event: its losses are explained when it is opened."), makeWorst(run, actions)));
    if (run.slowest.length) parts.push(section("Slowest deliveries", make("p", { className: "hint" }, EVENT_HINT), makeSlowest(run, actions)));
  }
  if (unavailable) parts.push(section("Causes of loss", make("p", { className: "hint" }, `Not available: ${unavailable}`)));
  if (run.requests.time.length) parts.push(makeRequests(run, actions));
  return parts;
}

function makeCauses(run, state, actions) {
  const cases = run.losses.causes.map(() => []);
  for (const row of run.countedLosses()) cases[run.losses.cause[row]].push(row);
  const order = cases.map((_, i) => i).filter((i) => cases[i].length).sort((a, b) => cases[b].length - cases[a].length);
  const list = make("ul", { className: "causes" });
  for (const cause of order) {
    const open = state.cause === cause;
    const bar = make("span", { className: "bar", style: { "--share": cases[cause].length / cases[order[0]].length } });
    const item = make("li", {}, button("", () => actions.chooseCause(open ? -1 : cause), { className: "cause", "aria-expanded": String(open) }));
    item.firstChild.append(make("span", { className: "says" }, run.losses.causes[cause]), make("span", { className: "count" }, formatCount(cases[cause].length)), bar);
    if (open) item.append(makeCases(run, cases[cause], actions));
    list.append(item);
  }
  return list;
}

function makeCases(run, rows, actions) {
  const list = make("ul", { className: "cases" }, make("li", { className: "hint" }, EVENT_HINT));
  for (const row of rows.slice(0, MOST_ROWS)) {
    const { event, node } = run.loss(row);
    list.append(make("li", {}, button(`event ${run.eventName(event)}, node ${node}`, () => actions.chooseEvent(event, node), { className: "case" })));
  }
  if (rows.length > MOST_ROWS) list.append(make("li", { className: "hint" }, `and ${formatCount(rows.length - MOST_ROWS)} more`));
  return list;
}

/** Returns the events that most nodes wanted and did not get, for runs whose causes are not counted. */
function makeWorst(run, actions) {
  const worst = [];
  for (let event = 0; event < run.events; event++) {
    if (run.publications.time[event] < run.warmup || !run.lostBy(event)) continue;
    if (worst.length === MOST_WORST && run.lostBy(event) <= run.lostBy(worst[MOST_WORST - 1])) continue;
    worst.push(event);
    worst.sort((a, b) => run.lostBy(b) - run.lostBy(a)).splice(MOST_WORST);
  }
  return make("ul", { className: "slowest" }, ...worst.map((event) => make("li", {},
    button(`${formatCount(run.lostBy(event))} of ${formatCount(run.counts.wanted[event])} lost: event ${run.eventName(event)}`, () => actions.chooseEvent(event)))));
}

function makeSlowest(run, actions) {
  return make("ul", { className: "slowest" }, ...run.slowest.map(({ event, node, delay }) => make("li", {},
    button(`${formatDuration(delay)}: event ${run.eventName(event)}, node ${node}`, () => actions.chooseEvent(event, node)))));
}

function makeRequests(run, actions) {
  const { outcome, causes } = run.requests;
  const counts = new Map();
  outcome.forEach((each, i) => { const key = each === "satisfied" ? "satisfied" : causes[i] || each; counts.set(key, [...(counts.get(key) ?? []), i]); });
  const list = make("ul", { className: "requests" });
  for (const [key, rows] of [...counts].sort((a, b) => b[1].length - a[1].length)) {
    const first = rows[0];
    list.append(make("li", {}, button(`${formatCount(rows.length)} · ${key}`, () => actions.chooseNode(run.requests.node[first], run.requests.time[first]))));
  }
  return section(`${formatCount(outcome.length)} requests, warm-up included`, list);
}

function makeFound(run, state, actions) {
  const { events, how, text } = state.found;
  if (!events) return section(`Search: ${text}`, make("p", { className: "hint" }, how));
  const list = make("ul", { className: "found" });
  for (const event of events.slice(0, MOST_ROWS)) {
    const lost = run.lostBy(event), wants = run.counts.wanted[event];
    list.append(make("li", {}, button("", () => actions.chooseEvent(event), { className: "hit" })));
    list.lastChild.firstChild.append(
      make("b", {}, run.eventName(event)), ` ${formatTime(run.publications.time[event], 1)} `,
      make("span", { className: lost ? "bad" : "good" }, wants ? `${wants - lost} of ${wants}` : "no subscriber"));
  }
  return section(`Search: ${text}`, make("p", { className: "hint" }, `${formatCount(events.length)} events; ${how}`), list);
}

/** Returns the panel of one event: content, journey, who has it, who lost it and why. */
export function makeEvent(runs, run, state, chosen, actions) {
  if (state.waiting) return [make("p", { className: "hint", role: "status" }, state.waiting)];
  if (!chosen) return [make("p", { className: "hint" }, "Choose an event: by a cause of loss, by search or in the log.")];
  const { event, steps, wants, lost, got, unavailable } = chosen, name = run.eventName(event), published = run.publications.time[event];
  const head = make("section", {},
    make("h3", {}, `Event ${name}`),
    make("p", { className: "content" }, run.content(event)),
    make("p", { className: "hint" }, `published by ${run.nodeName(run.publications.publisher[event])} at ${formatTime(published)}, ${run.publications.size[event]} B`),
    make("div", { className: "row" },
      button("Go to publication", () => actions.goTo(published)), button("Play it slowly", () => actions.playEvent()),
      button("Previous event", () => actions.stepEvent(-1)), button("Next event", () => actions.stepEvent(1)), button("Close", () => actions.chooseEvent(-1))));
  const parts = [head];
  if (runs.length > 1) parts.push(makeSides(runs, name));
  if (state.node >= 0) parts.push(makeStory(run, state.node, chosen, runs.length > 1 ? ` under ${run.name}` : ""));
  if (lost.size) {
    const list = make("ul", { className: "lost" });
    for (const [node, loss] of lost) list.append(make("li", {}, button(`node ${node}: ${loss.cause}`, () => actions.chooseNode(node), { className: node === state.node ? "chosen" : "" })));
    parts.push(section(`Lost by ${lost.size} of ${wants.size} subscribers`, list));
  }
  if (unavailable) parts.push(make("p", { className: "hint" }, `Causes are not available: ${unavailable}`));
  parts.push(section("Route", makeTree(run, steps, chosen, state, published, actions)));
  const late = [...got].filter(([node]) => wants.has(node)).length;
  parts.push(make("p", { className: "hint" }, `${late} of ${wants.size} subscribers received it; ${steps.size} nodes had it, relays included.`));
  return parts;
}

function makeSides(runs, name) {
  const list = make("ul", { className: "sides" });
  for (const each of runs) {
    const event = each.eventNumber(name);
    const words = event < 0 ? "not published" : `${each.counts.delivered[event]} of ${each.counts.wanted[event]} delivered`;
    list.append(make("li", {}, make("b", {}, each.name), ` ${words}`));
  }
  return list;
}

function makeStory(run, node, { lost, got, wants, steps, event }, under) {
  const loss = lost.get(node);
  if (loss) {
    const list = make("ol", { className: "story" });
    for (const sentence of loss.story) list.append(make("li", {}, sentence));
    return section(`Why node ${node} did not receive it${under}`,
      make("p", { className: "verdict" }, `${loss.cause}${loss.proven ? " (proven, independent of the protocol)" : ""}`), list);
  }
  const path = pathTo(steps, node), time = got.get(node);
  const published = run.publications.time[event], arrived = steps.get(node)?.time;
  const held = time !== undefined && arrived !== undefined && time - arrived > HELD;
  const words = time !== undefined
    ? `received it after ${formatDuration((held ? arrived : time) - published)} by ${path.join(" → ")}${wants.has(node) ? "" : ", although it was not subscribed when the event was published"}`
    : steps.has(node) ? `relayed it, received by ${path.join(" → ")}, and was not subscribed` : wants.has(node) ? "was subscribed" : "was not subscribed and did not receive it";
  const wait = held ? `The router delivered it to the application ${formatDuration(time - arrived)} later, ${formatDuration(time - published)} after the publication.` : "";
  return section(`Node ${node}${under}`, make("p", {}, `Node ${node} ${words}.`), wait ? make("p", {}, wait) : null);
}

function makeTree(run, steps, { wants, lost }, state, published, actions) {
  const list = make("ol", { className: "tree" });
  const rows = orderTree(steps), last = Math.max(...rows.map((each) => each.time), published + 1e-6);
  for (const { node, time, depth, sent } of rows.slice(0, MOST_ROWS)) {
    const role = depth === 0 && !sent ? "source" : wants.has(node) ? (lost.has(node) ? "lost" : "has") : "relay";
    const entry = button("", () => actions.chooseNode(node, time), { className: `step ${role}${node === state.node ? " chosen" : ""}${time > state.t ? " later" : ""}`, style: { "--depth": Math.min(depth, 12) } });
    entry.append(make("span", { className: "dot" }), make("span", {}, run.nodeName(node)),
      make("span", { className: "lane" }, make("span", { className: "mark", style: { "--share": (time - published) / (last - published) } })),
      make("span", { className: "after" }, depth === 0 && !sent ? "published" : `+${formatDuration(time - published)}`));
    list.append(make("li", {}, entry));
  }
  return list;
}

/** Returns the panel of one node at the moment. */
export function makeNode(run, state, actions) {
  const node = state.node;
  if (node < 0 || node >= run.nodes) return [make("p", { className: "hint" }, "Choose a node on the map.")];
  const facts = make("dl", {});
  const add = (name, value) => facts.append(make("dt", {}, name), make("dd", {}, value));
  add("Group", run.ground.groups[run.group[node]].name);
  if (run.ground.placed) add("Position", `${run.x[node].toFixed(1)} m east, ${run.y[node].toFixed(1)} m north`);
  if (run.off(node, state.t)) add("State", "down, or radio off");
  for (const name of run.states.names) {
    const value = run.state(name, node, state.t);
    if (value !== undefined) add(name, String(value));
  }
  add("Interests", run.interestsAt(node, state.t).join("\n") || "none");
  const parts = [section(`Node ${node}`, facts, make("div", { className: "row" },
    button(state.follow ? "Stop following" : "Follow", () => actions.follow(!state.follow)), button("Close", () => actions.chooseNode(-1))))];
  const lost = [];
  run.losses.node.forEach((each, row) => { if (each === node) lost.push(row); });
  if (lost.length) {
    const list = make("ul", { className: "lost" });
    for (const row of lost.slice(0, MOST_ROWS)) {
      const loss = run.loss(row);
      list.append(make("li", {}, button(`${run.eventName(loss.event)}: ${loss.cause}`, () => actions.chooseEvent(loss.event, node))));
    }
    parts.push(section(`${formatCount(lost.length)} events lost here, warm-up included`, list));
  }
  run.requests.node.forEach((each, i) => {
    if (each !== node || !run.requests.stories[i].length || Math.abs(run.requests.time[i] - state.t) > 30) return;
    const list = make("ol", { className: "story" }, ...run.requests.stories[i].map((sentence) => make("li", {}, sentence)));
    parts.push(section(`Request ${node}/${run.requests.number[i]}: ${run.requests.wanted[i]}`, make("p", { className: "verdict" }, run.requests.causes[i]), list));
  });
  return parts;
}
