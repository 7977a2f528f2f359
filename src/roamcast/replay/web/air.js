// The air: frames, drops and deliveries of a run by time, in pieces that are there or come from the server.

import { lower, upper } from "./run.js";
import { readColumns, unpack } from "./unpack.js";

const MOST_PIECES = 24; // of a served run that stay in memory

export class Air {
  constructor(run, read) {
    this.run = run;
    this.pieces = run.pieces.map((data) => (data.frames ? readPiece(data, read) : { start: data.start, end: data.end }));
    this.onLoad = () => {};
    this.byEvent = null;
    this.served = this.pieces.some((piece) => !piece.frames);
  }

  /** Whether the frames of a time are there; asks the server for them if not. */
  ready(from, to) {
    let all = true;
    for (const [number, piece] of this.pieces.entries()) {
      if (piece.frames || piece.end < from || piece.start > to) continue;
      all = false;
      this.load(number);
    }
    return all;
  }

  async load(number) {
    const piece = this.pieces[number];
    if (piece.frames || piece.asked) return;
    piece.asked = true;
    const answer = await fetch(`piece?run=${this.run.number}&piece=${number}`);
    if (!answer.ok) return;
    const { header, read } = await unpack(await answer.arrayBuffer());
    Object.assign(piece, readPiece(header, read));
    this.forget(number);
    this.onLoad();
  }

  /** Forgets the pieces farthest from one that was loaded, so that few stay in memory. */
  forget(number) {
    const loaded = [...this.pieces.keys()].filter((each) => this.pieces[each].frames);
    loaded.sort((a, b) => Math.abs(a - number) - Math.abs(b - number));
    for (const each of loaded.slice(MOST_PIECES)) this.pieces[each] = { start: this.pieces[each].start, end: this.pieces[each].end };
  }

  /** Calls `visit(frames, i)` for each frame that starts after `from` and not after `to`. */
  frames(from, to, visit) {
    for (const piece of this.pieces) {
      if (!piece.frames || piece.end < from || piece.start > to) continue;
      const last = upper(piece.frames.time, to);
      for (let i = upper(piece.frames.time, from); i < last; i++) visit(piece.frames, i);
    }
  }

  /** Calls `visit(drops, i, causes)` for each drop after `from` and not after `to`. */
  drops(from, to, visit) {
    for (const piece of this.pieces) {
      if (!piece.frames || piece.end < from || piece.start > to) continue;
      const last = upper(piece.drops.time, to);
      for (let i = upper(piece.drops.time, from); i < last; i++) visit(piece.drops, i, piece.causes);
    }
  }

  /** Calls `visit(deliveries, i)` for each delivery after `from` and not after `to`. */
  deliveries(from, to, visit) {
    for (const { deliveries, start, end } of this.pieces) {
      if (!deliveries || end < from || start > to) continue;
      for (let i = upper(deliveries.time, from), last = upper(deliveries.time, to); i < last; i++) visit(deliveries, i);
    }
  }

  /** Returns when the next frame starts after `t`, or the last one before it; undefined if there is none. */
  step(t, forward) {
    let found;
    for (const { frames } of this.pieces) {
      if (!frames || !frames.time.length) continue;
      const at = forward ? upper(frames.time, t) : lower(frames.time, t) - 1;
      const time = frames.time[at];
      if (time !== undefined && (found === undefined || (forward ? time < found : time > found))) found = time;
    }
    return found;
  }

  /** Returns an event's copies and drops in order of time, who wanted it, who got it when, and its losses. */
  async passage(event) {
    if (this.served) {
      const answer = await fetch(`event?run=${this.run.number}&event=${event}`);
      if (!answer.ok) throw new Error(`the server cannot read this event: ${answer.statusText}`);
      return answer.json();
    }
    this.byEvent ??= indexEvents(this.pieces, this.run.events);
    const { frames, drops, deliveries } = this.byEvent;
    const got = new Map();
    for (const [piece, i] of deliveries[event] ?? []) {
      const { node, time } = this.pieces[piece].deliveries;
      if (!got.has(node[i])) got.set(node[i], time[i]);
    }
    return {
      copies: (frames[event] ?? []).map(([piece, i]) => frameAt(this.pieces[piece].frames, i)),
      drops: (drops[event] ?? []).map(([piece, i]) => dropAt(this.pieces[piece], i)),
      wants: this.run.wants(event), got: [...got], losses: this.run.lossesOf(event), unavailable: "",
    };
  }
}

export function frameAt(frames, i) {
  return {
    time: frames.time[i], node: frames.node[i], to: frames.to[i] - 1, message: frames.message[i], event: frames.event[i] - 1,
    size: frames.size[i], attempts: frames.attempts[i], failed: frames.failed[i] > 0, airtime: frames.airtime[i],
  };
}

export function dropAt({ drops, causes }, i) {
  return {
    time: drops.time[i], node: drops.node[i], peer: drops.peer[i] - 1, message: drops.message[i], event: drops.event[i] - 1,
    cause: causes[drops.cause[i]],
  };
}

function readPiece(data, read) {
  return { ...data, frames: readColumns(data.frames, read), drops: readColumns(data.drops, read), deliveries: readColumns(data.deliveries, read) };
}

function indexEvents(pieces, events) {
  const found = { frames: new Array(events), drops: new Array(events), deliveries: new Array(events) };
  for (const [number, piece] of pieces.entries()) {
    for (const [table, none] of [["frames", 1], ["drops", 1], ["deliveries", 0]]) { // where 0 means no event, others count from 1
      const column = piece[table].event;
      for (let i = 0; i < column.length; i++) if (column[i] >= none) (found[table][column[i] - none] ??= []).push([number, i]);
    }
  }
  return found;
}
