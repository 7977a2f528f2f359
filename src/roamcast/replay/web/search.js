// Search by content: filters of the run are matched ahead; others if they compare fields with constants.

const COMPARE = {
  "=": (a, b) => a === b, "!=": (a, b) => a !== b, "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
};
const TEST = /^\s*(@?[\w.-]+(?:\/@?[\w.-]+)*)\s*(=|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true\(\)|false\(\))\s*$/;

/** Returns the events that a text means: { events, how }, or { events: null, how } if it is not understood. */
export function searchEvents(run, text) {
  const asked = text.trim();
  const named = run.eventNumber(asked);
  if (named >= 0) return { events: [named], how: "the event of this name" };
  const known = run.filters[asked] ?? run.filters[compact(asked)];
  if (known) return { events: withContents(run, new Set(known)), how: "a subscription of this run" };
  let accepts, how;
  if (asked.startsWith("/")) {
    accepts = parseFilter(asked);
    how = "matched in the viewer";
    if (!accepts) return { events: null, how: "This filter is not understood here. The viewer compares fields with constants: /coupon[zone = 6 and price < 3]." };
  } else {
    const sought = asked.toLowerCase();
    accepts = (event, plain) => plain.toLowerCase().includes(sought);
    how = "events that contain this text";
  }
  const contents = new Set();
  run.publications.contents.forEach((plain, number) => { if (accepts(readEvent(plain), plain)) contents.add(number); });
  return { events: withContents(run, contents), how };
}

/** Returns a function from an event { type, fields } to whether a filter matches it; null if not understood. */
export function parseFilter(text) {
  const found = /^\/\s*([\w.:-]+)\s*(?:\[(.*)\])?\s*$/s.exec(text.trim());
  if (!found) return null;
  const [, type, condition] = found;
  const tests = [];
  for (const part of condition ? splitAnd(condition) : []) {
    const test = TEST.exec(part);
    if (!test) return null;
    tests.push([test[1], COMPARE[test[2]], literal(test[3])]);
  }
  return (event) =>
    event?.type === type &&
    tests.every(([path, compare, value]) => {
      const found = follow(event.fields, path);
      return typeof found === typeof value && compare(found, value);
    });
}

/** Returns the type and fields of an event in the facts; null if it has another form. */
export function readEvent(plain) {
  try {
    const data = JSON.parse(plain);
    const entries = Object.entries(data);
    if (entries.length === 1 && typeof entries[0][1] === "object") return { type: entries[0][0], fields: entries[0][1] ?? {} };
  } catch { /* not JSON */ }
  return null;
}

/** Returns the value at a path such as artist/name; undefined if there is none. */
function follow(fields, path) {
  let at = fields;
  for (const part of path.split("/")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at;
}

function splitAnd(condition) {
  const parts = [""];
  for (const token of condition.match(/"[^"]*"|'[^']*'|\band\b|[^"'a]+|a/g) ?? []) {
    if (token === "and") parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts;
}

function literal(text) {
  if (text === "true()") return true;
  if (text === "false()") return false;
  return /^["']/.test(text) ? text.slice(1, -1) : Number(text);
}

/** Returns a filter without the spaces around its signs, as the facts write it. */
function compact(text) {
  return text.replace(/\s*(!=|<=|>=|=|<|>)\s*/g, "$1").replace(/\[\s+/g, "[").replace(/\s+\]/g, "]");
}

function withContents(run, contents) {
  const events = [];
  run.publications.content.forEach((content, event) => { if (contents.has(content)) events.push(event); });
  return events;
}
