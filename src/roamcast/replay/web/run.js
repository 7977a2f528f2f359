// A run: where its nodes were, what was published, who wanted it, who got it and who did not.

import { readColumns } from "./unpack.js";

const TABLES = ["legs", "publications", "counts", "expectations", "losses", "interests", "requests", "states"];

/** Returns the first index of `sorted` whose value is greater than `value`. */
export function upper(sorted, value, low = 0, high = sorted.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first index of `sorted` whose value is not less than `value`. */
export function lower(sorted, value, low = 0, high = sorted.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Run {
  constructor(data, read, number) {
    Object.assign(this, data);
    this.number = number;
    for (const name of TABLES) this[name] = readColumns(data[name], read);
    this.events = this.publications.time.length;
    this.firstLeg = groupStarts(this.legs.node, this.nodes);
    this.currentLeg = Int32Array.from(this.firstLeg.subarray(0, this.nodes));
    this.x = new Float64Array(this.nodes);
    this.y = new Float64Array(this.nodes);
    this.group = new Uint8Array(this.nodes);
    this.ground.groups.forEach((group, i) => this.group.fill(i, group.first, group.first + group.count));
    this.publishes = new Uint8Array(this.nodes);
    for (const node of this.publications.publisher) if (node < this.nodes) this.publishes[node] = 1;
    this.lost = byEvent(this.losses.event, this.events);
    this.hasOutages = this.states.names.includes("up") || this.states.names.includes("radio");
    this.stateLists = listStates(this.states, this.nodes);
    this.stateRange = {};
    for (const name of this.states.names) this.stateRange[name] = { low: Infinity, high: -Infinity };
    this.states.value.forEach((value, i) => {
      const range = this.stateRange[this.states.names[this.states.name[i]]];
      range.low = Math.min(range.low, value);
      range.high = Math.max(range.high, value);
    });
  }

  /** Computes where all nodes are at time `t` into `x` and `y` [m]. */
  moveTo(t) {
    for (let node = 0; node < this.nodes; node++) this.place(node, t);
  }

  /** Computes where one node is at time `t` into `x[node]` and `y[node]`. */
  place(node, t) {
    const { start, end, x0, y0, x1, y1 } = this.legs;
    const first = this.firstLeg[node], last = this.firstLeg[node + 1] - 1;
    if (last < first) return;
    let leg = this.currentLeg[node];
    if (start[leg] > t || (leg < last && start[leg + 1] <= t)) leg = Math.max(upper(start, t, first, last + 1) - 1, first);
    this.currentLeg[node] = leg;
    const lasts = end[leg] - start[leg];
    const share = t >= end[leg] || lasts <= 0 ? 1 : Math.max(t - start[leg], 0) / lasts;
    this.x[node] = share === 1 ? x1[leg] : x0[leg] + (x1[leg] - x0[leg]) * share;
    this.y[node] = share === 1 ? y1[leg] : y0[leg] + (y1[leg] - y0[leg]) * share;
  }

  /** Returns the places of a node from `since` to `t` as [x, y, x, y ...], its turns included. */
  trail(node, since, t) {
    const kept = [this.x[node], this.y[node]];
    const { start } = this.legs;
    const places = [];
    const add = (time) => { this.place(node, time); places.push(this.x[node], this.y[node]); };
    add(since);
    for (let leg = upper(start, since, this.firstLeg[node], this.firstLeg[node + 1]); leg < this.firstLeg[node + 1] && start[leg] < t; leg++) add(start[leg]);
    add(t);
    [this.x[node], this.y[node]] = kept;
    return places;
  }

  /** Returns the distance of two nodes [m] at time `t`. */
  distance(a, b, t) {
    const kept = [this.x[a], this.y[a], this.x[b], this.y[b]];
    this.place(a, t);
    this.place(b, t);
    const apart = Math.hypot(this.x[a] - this.x[b], this.y[a] - this.y[b]);
    [this.x[a], this.y[a], this.x[b], this.y[b]] = kept;
    return apart;
  }

  /** Returns the name of a node: its group's if every group has one node, as those of live nodes, else its number. */
  nodeName(node) {
    const { groups } = this.ground;
    return groups.length === this.nodes ? (groups[node]?.name ?? String(node)) : `node ${node}`;
  }

  eventName(event) {
    return `${this.publications.publisher[event]}/${this.publications.sequence[event]}`;
  }

  content(event) {
    return this.publications.contents[this.publications.content[event]];
  }

  /** Returns the number of the event with a name such as 0/641; -1 if none has it. */
  eventNumber(name) {
    const found = /^(\d+)\/(\d+)$/.exec(name.trim());
    if (!found) return -1;
    const publisher = Number(found[1]), sequence = Number(found[2]), { publisher: publishers, sequence: sequences } = this.publications;
    for (let i = 0; i < this.events; i++) if (sequences[i] === sequence && publishers[i] === publisher) return i;
    return -1;
  }

  /** Returns how many nodes wanted an event and did not get it. */
  lostBy(event) {
    return this.counts.wanted[event] - this.counts.delivered[event];
  }

  /** Returns the nodes that wanted an event when it was published, in a file that has them. */
  wants(event) {
    const { event: events, node } = this.expectations;
    return Array.from(node.subarray(lower(events, event), upper(events, event)));
  }

  /** Returns the rows of the losses of events published after the warm-up. */
  countedLosses() {
    const rows = [];
    this.losses.event.forEach((event, row) => { if (this.publications.time[event] >= this.warmup) rows.push(row); });
    return rows;
  }

  /** Returns the losses of an event: node, cause, whether it is proven, and the story. */
  lossesOf(event) {
    return rowsOf(this.lost, event).map((row) => this.loss(row));
  }

  loss(row) {
    const { event, node, cause, causes, proven, stories } = this.losses;
    return { event: event[row], node: node[row], cause: causes[cause[row]], proven: proven[row] > 0, story: stories[row] };
  }

  /** Returns the value that a node's router had reported last at time `t`; undefined if none. */
  state(name, node, t) {
    const list = this.stateLists[name]?.[node];
    if (!list) return undefined;
    const at = upper(list.times, t);
    return at ? list.values[at - 1] : undefined;
  }

  /** Returns whether a node is down or has its radio off at time `t`. */
  off(node, t) {
    return this.hasOutages && (this.state("up", node, t) === 0 || this.state("radio", node, t) === 0);
  }

  /** Returns the filters that a node wants at time `t`. */
  interestsAt(node, t) {
    const { time, node: nodes, filter, begins, filters } = this.interests;
    const standing = new Set();
    for (let i = 0, count = upper(time, t); i < count; i++) {
      if (nodes[i] !== node) continue;
      if (begins[i]) standing.add(filter[i]);
      else standing.delete(filter[i]);
    }
    return [...standing].map((each) => filters[each]);
  }
}

function groupStarts(sorted, count) {
  const starts = new Int32Array(count + 1);
  for (let i = 0; i <= count; i++) starts[i] = lower(sorted, i);
  return starts;
}

/** Returns the rows of each event: those of event e are `order[first[e]]` to `order[first[e + 1] - 1]`. */
function byEvent(events, count) {
  const first = new Int32Array(count + 2);
  for (const event of events) if (event < count) first[event + 2]++;
  for (let i = 1; i < first.length; i++) first[i] += first[i - 1];
  const order = new Int32Array(events.length);
  for (let row = 0; row < events.length; row++) if (events[row] < count) order[first[events[row] + 1]++] = row;
  return { first, order };
}

function rowsOf({ first, order }, event) {
  return event >= 0 ? Array.from(order.subarray(first[event], first[event + 1])) : [];
}

function listStates({ time, node, name, value, names }, nodes) {
  const lists = {};
  for (const each of names) lists[each] = new Array(nodes);
  for (let i = 0; i < time.length; i++) {
    const list = (lists[names[name[i]]][node[i]] ??= { times: [], values: [] });
    list.times.push(time[i]);
    list.values.push(value[i]);
  }
  return lists;
}
