// The air: frames and drops of a run by time, in pieces that are there or come from the server.

import { lower, upper } from "./run.js";
import { readColumns, unpack } from "./unpack.js";

export class Air {
  constructor(run, read) {
    this.run = run;
    this.pieces = run.pieces.map((told) => (told.frames ? readPiece(told, read) : { start: told.start, end: told.end }));
    this.onLoad = () => {};
    this.byEvent = null;
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
    this.onLoad();
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

  /** Returns the copies of an event that were sent, and the frames of it that were lost, in order of time. */
  async passage(event) {
    if (this.pieces.some((piece) => !piece.frames)) {
      const answer = await fetch(`event?run=${this.run.number}&event=${event}`);
      return answer.json();
    }
    this.byEvent ??= indexEvents(this.pieces, this.run.events);
    return {
      copies: (this.byEvent.frames[event] ?? []).map(([piece, i]) => frameAt(this.pieces[piece].frames, i)),
      drops: (this.byEvent.drops[event] ?? []).map(([piece, i]) => dropAt(this.pieces[piece], i)),
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

function readPiece(told, read) {
  return { ...told, frames: readColumns(told.frames, read), drops: readColumns(told.drops, read) };
}

function indexEvents(pieces, events) {
  const found = { frames: new Array(events), drops: new Array(events) };
  for (const [number, piece] of pieces.entries()) {
    for (const table of ["frames", "drops"]) {
      const column = piece[table].event;
      for (let i = 0; i < column.length; i++) if (column[i]) (found[table][column[i] - 1] ??= []).push([number, i]);
    }
  }
  return found;
}
