// The timeline: frames of each category over time, the axis of time, the current time, and the span of the chosen event.

import { sharpen } from "./dom.js";
import { Layer, stampText } from "./sprites.js";

const AXIS = 13; // px below the strip for the labels of time
const APART = 90; // px between labels, at least
const CATEGORIES = ["event", "subscription", "routing", "control"];

/** Draws the density strip of a run; `chosen` marks the time of the chosen event. */
export function drawTimeline(canvas, run, state, chosen, colours) {
  const { pen, width, height: whole } = sharpen(canvas), height = whole - AXIS;
  pen.clearRect(0, 0, width, whole);
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
  drawAxis(pen, run, width, height, colours);
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

/** Draws the labels of time below the strip, at round numbers of seconds, and names the warm-up. */
function drawAxis(pen, run, width, height, colours) {
  const rough = (APART / width) * run.duration, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? 10 * power;
  pen.fillStyle = colours.faint;
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "top";
  for (let t = 0; t <= run.duration; t += step) {
    const x = (t / run.duration) * width, label = `${Number(t.toPrecision(6))} s`;
    pen.fillRect(Math.min(x, width - 1), height, 1, 3);
    pen.textAlign = t === 0 ? "left" : x > width - 20 ? "right" : "center";
    pen.fillText(label, x, height + 3);
  }
  pen.textAlign = "left";
  const wide = (run.warmup / run.duration) * width;
  if (wide > 64) stampText(pen, "warm-up", wide / 2 - 22, 8, 10, colours.faint, colours.ground);
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
