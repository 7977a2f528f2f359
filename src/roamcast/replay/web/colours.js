// Colours: one palette for light and one for dark; the same for map, charts and legend.

const LIGHT = {
  ground: "#ffffff", outside: "#eef1f4", line: "#d5dce2", zone: "#aab6c0", ink: "#1d2a33", faint: "#5c6b77", halo: "#ffffff",
  event: "#1f6fb5", subscription: "#9447ad", routing: "#71808c", control: "#9c5c00",
  has: "#11875a", wants: "#1f6fb5", lost: "#c5352b", relay: "#6fb795", off: "#a9b3bb", hub: "#f3ead7", home: "#e4eef0", building: "#dde3e8", wall: "#8d9ba6",
  groups: ["#2f6f8f", "#b5651d", "#6a51a3", "#3f7f3a", "#a8325e", "#7d6b00", "#2b7a78", "#555f9e"],
  runs: ["#1f6fb5", "#c2571a", "#11875a", "#9447ad"],
};
const DARK = {
  ground: "#17212a", outside: "#10171d", line: "#2d3a45", zone: "#4d6071", ink: "#e8eef2", faint: "#9fb0bd", halo: "#10171d",
  event: "#6db4f2", subscription: "#d295ea", routing: "#94a5b2", control: "#f2b450",
  has: "#4fca93", wants: "#6db4f2", lost: "#ff7d70", relay: "#3f8f6c", off: "#5d6b76", hub: "#2b281d", home: "#1b2b30", building: "#26343f", wall: "#637684",
  groups: ["#7cc0dd", "#eba266", "#b9a5ea", "#8ecb87", "#ec8fb4", "#d6c45a", "#74cfc9", "#a7b0ef"],
  runs: ["#6db4f2", "#f5a26b", "#4fca93", "#d295ea"],
};
const SCALE = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** Returns the palette of a theme. */
export function palette(dark) {
  return dark ? DARK : LIGHT;
}

/** Returns a colour of a perceptually even scale for a share from 0 to 1. */
export function scaleColour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  const mix = SCALE[low].map((from, i) => Math.round(from + (SCALE[low + 1][i] - from) * (at - low)));
  return `rgb(${mix.join(",")})`;
}

/** Returns a colour for a number that only names something; neighbouring numbers differ clearly. */
export function nameColour(number, dark) {
  return `hsl(${(number * 137.508) % 360} ${dark ? 62 : 55}% ${dark ? 66 : 42}%)`;
}
