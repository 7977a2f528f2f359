// Links: the moment, the event and the node as the address's fragment, #event=3/17&node=12&t=203.4.

/** Returns what a fragment says; whatever is no number or name of ours is left out. */
export function readLink(fragment) {
  const data = new URLSearchParams(fragment.replace(/^#/, ""));
  const found = {};
  const number = (name, key = name) => {
    const value = data.get(name);
    if (value !== null && /^-?\d+(\.\d+)?$/.test(value)) found[key] = Number(value);
  };
  number("t");
  number("node");
  number("speed");
  number("run", "active");
  const event = data.get("event");
  if (event !== null && /^\d+\/\d+$/.test(event)) found.event = event;
  if (data.has("follow")) found.follow = true;
  if (data.has("only")) found.only = true;
  const colour = data.get("colour");
  if (colour !== null) found.colourBy = colour;
  return found;
}

/** Returns the fragment for a moment of the replay. */
export function writeLink(run, state) {
  const data = [`t=${state.t.toFixed(3)}`];
  if (state.event >= 0) data.push(`event=${run.eventName(state.event)}`);
  if (state.node >= 0) data.push(`node=${state.node}`);
  if (state.follow) data.push("follow");
  if (state.only) data.push("only");
  if (state.active) data.push(`run=${state.active}`);
  return `#${data.join("&")}`;
}
