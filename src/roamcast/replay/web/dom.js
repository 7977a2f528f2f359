// Elements: texts from facts become text nodes only, so that no name or content is read as HTML.

/** Returns a new element with properties, attributes (names with a dash, role), listeners (on...) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** Returns a time as 203.417 s. */
export function formatTime(t, digits = 3) {
  return `${t.toFixed(digits)} s`;
}

/** Returns a duration in a unit that fits. */
export function formatDuration(seconds) {
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0)} ms`;
  return seconds < 100 ? `${seconds.toFixed(2)} s` : `${seconds.toFixed(0)} s`;
}

/** Returns a whole number with separators. */
export function formatCount(count) {
  return count.toLocaleString("en");
}

/** Sizes a canvas to its box at the screen's resolution; returns its pen and its size in CSS pixels. */
export function sharpen(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { pen, width: box.width, height: box.height };
}

/** Returns the element of the page with an id. */
export const find = (id) => document.getElementById(id);
