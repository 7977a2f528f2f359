// The log: frames, drops, publications, deliveries and states before the clock, the latest first, with filters.

import { lower, upper } from "./run.js";
import { make, formatTime } from "./dom.js";

const MOST = 120;
const WINDOW = 30; // s before the clock that are looked through
export const LOG_KINDS = ["sent", "dropped", "published", "delivered", "interest", "state"];

/** Returns the latest entries before `state.t`: { time, kind, node, event, text }. */
export function listEntries(run, air, state, kinds, onlyNode, onlyEvent) {
  const from = Math.max(state.t - WINDOW, -1), to = state.t, entries = [];
  const add = (time, kind, node, event, text, other = -1) => {
    if (onlyNode && state.node >= 0 && node !== state.node && other !== state.node) return;
    if (onlyEvent && state.event >= 0 && event !== state.event) return;
    entries.push({ time, kind, node, event, text });
  };
  if (kinds.has("sent")) {
    air.frames(from, to, (frames, i) => {
      const [category, kind] = run.messages[frames.message[i]], target = frames.to[i] - 1;
      if (!state.categories.has(category)) return;
      const tries = frames.attempts[i] > 1 ? `, ${frames.attempts[i]} tries` : "";
      add(frames.time[i], "sent", frames.node[i], frames.event[i] - 1,
        `${kind} to ${target < 0 ? "all in range" : `node ${target}`}, ${frames.size[i]} B${tries}${frames.failed[i] ? ", given up" : ""}`, target);
    });
  }
  if (kinds.has("dropped")) {
    air.drops(from, to, (drops, i, causes) => {
      const [category, kind] = run.messages[drops.message[i]], peer = drops.peer[i] - 1;
      if (!state.categories.has(category)) return;
      add(drops.time[i], "dropped", drops.node[i], drops.event[i] - 1, `${kind}${peer < 0 ? "" : ` (peer ${peer})`}: ${causes[drops.cause[i]].replaceAll("_", " ")}`, peer);
    });
  }
  const rows = (table, visit) => { for (let i = lower(table.time, from), last = upper(table.time, to); i < last; i++) visit(i); };
  if (kinds.has("published")) rows(run.publications, (i) => add(run.publications.time[i], "published", run.publications.publisher[i], i, run.content(i)));
  if (kinds.has("delivered")) air.deliveries(from, to, ({ time, node, event }, i) => add(time[i], "delivered", node[i], event[i], run.content(event[i])));
  if (kinds.has("interest")) rows(run.interests, (i) => add(run.interests.time[i], "interest", run.interests.node[i], -1, `${run.interests.begins[i] ? "subscribes to" : "unsubscribes from"} ${run.interests.filters[run.interests.filter[i]]}`));
  if (kinds.has("state")) rows(run.states, (i) => add(run.states.time[i], "state", run.states.node[i], -1, `${run.states.names[run.states.name[i]]} = ${run.states.value[i]}`));
  return entries.sort((a, b) => b.time - a.time).slice(0, MOST);
}

/** Returns the list as elements; `choose` is called with an entry that is pressed. */
export function makeEntries(run, entries, choose) {
  return entries.map((entry) =>
    make("li", {},
      make("button", { type: "button", className: `entry ${entry.kind}`, onclick: () => choose(entry) },
        make("time", {}, formatTime(entry.time)),
        make("span", { className: "kind" }, entry.kind),
        make("span", { className: "node" }, `node ${entry.node}`),
        make("span", { className: "text" }, entry.event >= 0 ? `${entry.text} · ${run.eventName(entry.event)}` : entry.text))));
}
