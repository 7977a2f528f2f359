// The timeline: how many frames of each category were sent when, the clock's line, and the chosen event's span.

import { sharpen } from "./dom.js";
import { Layer } from "./sprites.js";

const CATEGORIES = ["event", "subscription", "routing", "control"];

/** Draws the density strip of a run; `chosen` marks the time of the chosen event. */
export function drawTimeline(canvas, run, state, chosen, colours) {
  const { pen, width, height } = sharpen(canvas);
  pen.clearRect(0, 0, width, height);
  const layer = (run.densityLayer ??= new Layer()), x = (state.t / run.duration) * width;
  const key = `${[...state.categories]} ${colours.ground}`;
  const strip = (own) => drawDensity(own, run, state.categories, width, height, colours);
  pen.globalAlpha = 0.45;
  layer.show(pen, width, height, key, strip);
  pen.globalAlpha = 1;
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, x, height);
  pen.clip();
  layer.show(pen, width, height, key, strip);
  pen.restore();
  if (run.warmup > 0) {
    pen.fillStyle = colours.faint;
    pen.globalAlpha = 0.14;
    pen.fillRect(0, 0, (run.warmup / run.duration) * width, height);
    pen.globalAlpha = 1;
  }
  if (chosen) {
    const times = [...chosen.steps.values()].map((each) => each.time);
    const from = (Math.min(...times) / run.duration) * width, to = (Math.max(...times) / run.duration) * width;
    pen.fillStyle = colours.has;
    pen.fillRect(from - 1, 0, Math.max(to - from, 0) + 2, 4);
  }
  pen.fillStyle = colours.ink;
  pen.fillRect(x - 1, 0, 2, height);
}

function drawDensity(pen, run, categories, width, height, colours) {
  const bins = run.charts.airtime.length, step = width / bins;
  const counts = CATEGORIES.filter((each) => categories.has(each) && run.charts.frames[each]).map((each) => [colours[each], run.charts.frames[each]]);
  const totals = Array.from({ length: bins }, (_, bin) => counts.reduce((sum, [, each]) => sum + each[bin], 0));
  const top = Math.max(...totals, 1);
  for (let bin = 0; bin < bins; bin++) {
    let y = height - 1;
    for (const [colour, each] of counts) {
      const tall = ((height - 6) * each[bin]) / top;
      pen.fillStyle = colour;
      pen.fillRect(bin * step, y - tall, Math.max(step - 0.6, 0.6), tall);
      y -= tall;
    }
  }
}

/** Lets a press or drag on a canvas set the clock; `go` gets a share from 0 to 1. */
export function scrub(canvas, go) {
  const set = (event) => {
    const box = canvas.getBoundingClientRect();
    go(Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1));
  };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); set(event); });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons) set(event); });
}
