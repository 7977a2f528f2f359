// The map of a scenario as SVG: area, zones, buildings, groups, trails of the last minute, publishers.

import { s } from "./dom.js";
import { colour } from "./format.js";

/** Returns the map; `label` describes it. With `small` it has no axes and no texts. */
export function drawMap(map, { label = "", small = false } = {}) {
  const { width, height } = map;
  const unit = Math.max(width, height) / (small ? 60 : 100);
  const flip = (y) => height - y;
  const margin = small ? unit : 3 * unit;
  const root = s("svg", {
    class: small ? "map small" : "map", role: "img", "aria-label": label,
    viewBox: `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`,
    preserveAspectRatio: "xMidYMid meet",
  });
  root.append(s("rect", { class: "ground", x: 0, y: 0, width, height, rx: unit / 2 }));
  if (map.zone) root.append(zones(map, unit, flip, small));
  if (map.buildings.length) root.append(buildings(map, unit, flip));
  const trails = s("g", { class: "trails" });
  const nodes = s("g", { class: "nodes" });
  map.groups.forEach((group, number) => {
    const kind = colour(number);
    for (const trail of group.trails) {
      const points = trail.map(([x, y]) => `${x},${flip(y)}`).join(" ");
      trails.append(s("polyline", { class: `trail ${kind}`, points, "stroke-width": unit / 2.5 }));
    }
    const publishing = new Set(group.publishing);
    const size = group.at.length > 500 ? unit / 2.4 : unit / (small ? 1.5 : 1.3);
    group.at.forEach(([x, y], index) => {
      const speaks = publishing.has(index);
      const place = { class: `node ${kind}`, cx: x, cy: flip(y), "stroke-width": unit / 5 };
      if (speaks && publishing.size <= 6) {
        nodes.append(s("circle", { class: `reach ${kind}`, cx: x, cy: flip(y), r: map.range, "stroke-width": unit / 6,
          "stroke-dasharray": `${unit} ${unit}` }));
      }
      nodes.append(s("circle", { ...place, r: speaks ? 1.7 * size : size, "data-group": group.name, "data-index": index }));
    });
  });
  root.append(trails, clip(root, nodes, map));
  return root;
}

let clips = 0;
function clip(root, nodes, { width, height }) {
  clips += 1;
  const spare = Math.max(width, height) / 40;
  const shape = s("rect", { x: -spare, y: -spare, width: width + 2 * spare, height: height + 2 * spare });
  root.append(s("clipPath", { id: `clip-${clips}` }, shape));
  nodes.setAttribute("clip-path", `url(#clip-${clips})`);
  return nodes;
}

function buildings({ buildings: outlines }, unit, flip) {
  const ring = (corners) => `M${corners.map(([x, y]) => `${x},${flip(y)}`).join("L")}Z`;
  const d = outlines.flat().map(ring).join("");
  return s("path", { class: "building", d, "fill-rule": "evenodd", "stroke-width": unit / 5 });
}

function zones(map, unit, flip, small) {
  const { width, height, zone } = map;
  const group = s("g", { class: "zones" });
  for (let x = zone; x < width - 1e-6; x += zone) {
    group.append(s("line", { x1: x, x2: x, y1: 0, y2: height, "stroke-width": unit / 6 }));
  }
  for (let y = zone; y < height - 1e-6; y += zone) {
    group.append(s("line", { x1: 0, x2: width, y1: flip(y), y2: flip(y), "stroke-width": unit / 6 }));
  }
  const columns = Math.ceil(width / zone - 1e-9), rows = Math.ceil(height / zone - 1e-9);
  if (small || columns * rows > 100) return group;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const x = (column * zone + Math.min((column + 1) * zone, width)) / 2;
      const y = (row * zone + Math.min((row + 1) * zone, height)) / 2;
      group.append(s("text", { x, y: flip(y), "font-size": Math.min(zone / 4, 5 * unit) }, row * columns + column + 1));
    }
  }
  return group;
}

/** Returns the groups of a map in words, for its label. */
export function describeMap(map) {
  const groups = map.groups.map((group) => `${group.count} ${group.name}`).join(", ");
  const walls = map.buildings.length ? ` and ${map.buildings.length} buildings` : "";
  return `${map.width} m x ${map.height} m with ${groups}${walls}, ${map.moment} s into the run`;
}
