// Charts under the map: all on the clock of the replay; a press moves the clock there.

import { sharpen, formatDuration } from "./dom.js";
import { Layer, stampText } from "./sprites.js";

const HEAD = 13; // px above the upper line, for the label of its value

const percent = (value) => `${(100 * value).toFixed(0)} %`;
const RECENT_SHARE = 0.05; // of the run: an older value is not shown as that of now
const CHARTS = [
  { key: "delivered", title: "Delivered", about: "Share of expected deliveries of the events published then", top: 1, format: percent },
  { key: "delay", title: "Delay", about: "Median delay of these deliveries", format: formatDuration },
  { key: "airtime", title: "Airtime", about: "Seconds of data and RTS frames on the air per second, all nodes", format: (value) => `${value.toFixed(2)} s/s` },
  { key: "losses", title: "Link losses", about: "Recorded frame losses, given-up unicasts and queue drops per second", format: (value) => `${value.toFixed(1)} /s` },
];

/** Returns the charts of some runs: those that all have, and one for the state that colours the nodes. */
export function listCharts(runs, colourBy) {
  for (const run of runs) {
    const { queue, collisions, failed } = run.charts, width = run.duration / queue.length;
    run.charts.losses ??= queue.map((count, i) => (count + collisions[i] + failed[i]) / width);
  }
  const known = CHARTS.filter(({ key }) => key !== "airtime" || runs.some((run) => run.charts.airtime.some((value) => value > 0)));
  if (!colourBy.startsWith("state:")) return known;
  const name = colourBy.slice(6);
  for (const run of runs) run.charts[colourBy] ??= stateSeries(run, name);
  const named = runs.some((run) => run.servedBy === name);
  const about = named ? "Number of different values that nodes report" : "Mean over the nodes that report it";
  return [...known, { key: colourBy, title: named ? `${name}: number` : `${name}: mean`, about, format: (value) => String(+value.toFixed(2)) }];
}

function stateSeries(run, name) {
  const bins = run.charts.airtime.length;
  return Array.from({ length: bins }, (_, bin) => {
    const t = ((bin + 0.5) / bins) * run.duration, values = [];
    for (let node = 0; node < run.nodes; node++) {
      const value = run.state(name, node, t);
      if (value !== undefined) values.push(value);
    }
    if (!values.length) return null;
    return run.servedBy === name ? new Set(values).size : values.reduce((sum, each) => sum + each, 0) / values.length;
  });
}

/** Draws one chart of all runs with the clock's line; returns what the label says of the moment, by run. */
export function drawChart(canvas, chart, runs, state, colours) {
  const { pen, width, height } = sharpen(canvas);
  pen.clearRect(0, 0, width, height);
  chart.layer ??= new Layer();
  chart.layer.show(pen, width, height, `${chart.key} ${colours.ground}`, (own) => drawLines(own, chart, runs, width, height, colours));
  pen.fillStyle = colours.ink;
  pen.fillRect((state.t / runs[0].duration) * width - 0.5, 0, 1, height);
  return runs.map((run) => {
    const series = run.charts[chart.key] ?? [];
    let bin = Math.min(Math.floor((state.t / run.duration) * series.length), series.length - 1);
    const oldest = bin - series.length * RECENT_SHARE;
    while (bin > oldest && (series[bin] === null || series[bin] === undefined)) bin--; // nothing was published then: the value before
    return bin < 0 || bin <= oldest ? "-" : chart.format(series[bin]);
  });
}

function drawLines(pen, chart, runs, width, height, colours) {
  const counted = (run) => (run.charts[chart.key] ?? []).filter((value, i, all) => value !== null && i >= Math.floor((run.warmup / run.duration) * all.length));
  const top = chart.top ?? Math.max(...runs.flatMap(counted), 1e-9);
  pen.fillStyle = colours.line;
  pen.fillRect(0, height - 1, width, 1);
  pen.fillRect(0, HEAD, width, 1);
  for (const [number, run] of runs.entries()) {
    const series = run.charts[chart.key] ?? [], step = width / series.length;
    pen.strokeStyle = colours.runs[number % colours.runs.length];
    pen.lineWidth = 1.5;
    pen.beginPath();
    series.forEach((value, i) => { // a bin without a value is passed over by a straight line
      if (value !== null) pen.lineTo((i + 0.5) * step, height - 1 - (height - 1 - HEAD) * Math.min(value / top, 1));
    });
    pen.stroke();
  }
  stampText(pen, chart.format(top), 0, HEAD / 2, 10, colours.faint, colours.ground); // value of the upper line; the lower one is 0
}
