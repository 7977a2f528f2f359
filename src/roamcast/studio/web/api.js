// Requests to the server. The token comes from the address's fragment and is sent as a header.

const KEY = "roamcast-studio-token";

/** Takes the token out of the address, so that it is not shown or kept in the history. */
export function takeToken() {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (found) {
    localStorage.setItem(KEY, found[1]);
    history.replaceState(null, "", "#/worlds");
  }
}

const headers = (more = {}) => ({ Authorization: `Bearer ${localStorage.getItem(KEY) ?? ""}`, ...more });

export class ApiError extends Error {}

async function read(response) {
  let data = {};
  try {
    data = await response.json();
  } catch {
    throw new ApiError(`the server answered with status ${response.status}`);
  }
  if (!response.ok) throw new ApiError(data.error ?? `status ${response.status}`);
  return data;
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("the server does not answer; was roamcast studio ended?");
  }
  return read(response);
}

/** Returns the answer to a GET request with a query. */
export function get(path, query = {}) {
  const text = new URLSearchParams(query).toString();
  return send(text ? `${path}?${text}` : path, { headers: headers() });
}

/** Returns the answer to a POST request with a JSON body; `signal` may abort it. */
export function post(path, body, signal) {
  const options = { method: "POST", body: JSON.stringify(body), signal };
  return send(path, { ...options, headers: headers({ "Content-Type": "application/json" }) });
}

/** Sends a file. */
export function upload(path, file) {
  const query = new URLSearchParams({ name: file.name });
  const type = { "Content-Type": "application/octet-stream" };
  return send(`${path}?${query}`, { method: "POST", body: file, headers: headers(type) });
}

/** Calls `heard` with each event of a stream until it ends or `signal` aborts it. */
export async function follow(path, heard, signal) {
  const response = await fetch(path, { headers: headers(), signal });
  if (!response.ok) await read(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (kept + value).split("\n\n");
    kept = parts.pop();
    for (const part of parts) heard(JSON.parse(part.replace(/^data: /, "")));
  }
}
