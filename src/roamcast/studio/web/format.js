// Numbers and times for people.

/** Returns a number with three significant digits and thousands separated. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e9)) return value.toExponential(2);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: Number.isInteger(value) ? 0 : digits });
}

/** Returns a value of a metric, shares in percent. */
export function metricValue(metric, value) {
  if (value === null || value === undefined) return "–";
  return metric.scale === "share" ? `${(100 * value).toFixed(1)} %` : number(value);
}

/** Returns a duration in words. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Returns how long ago a time (seconds since 1970) was. */
export function ago(time) {
  const passed = Date.now() / 1000 - time;
  if (passed < 60) return "just now";
  return passed < 86400 ? `${duration(passed)} ago` : new Date(1000 * time).toLocaleDateString();
}

const COLOURS = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
/** Returns the class of the colour of the n-th series. */
export const colour = (n) => COLOURS[n % COLOURS.length];
