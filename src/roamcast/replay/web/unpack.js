// Unpacking: packed runs (roamcast.replay.packing) as typed arrays.

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };

/** Returns the bytes of text in base64. */
export function decodeBase64(text) {
  const plain = atob(text.trim());
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

/** Returns the header of a block and a function that reads a column by what the header says of it. */
export async function unpack(block) {
  const stream = new Blob([block]).stream().pipeThrough(new DecompressionStream("gzip"));
  const plain = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(plain.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(plain.subarray(4, 4 + length)));
  const bytes = plain.subarray(4 + length);
  return { header, read: (data) => readColumn(data, bytes) };
}

/** Returns an object of columns; what is no column stays as it is. */
export function readColumns(data, read) {
  const found = {};
  for (const [name, each] of Object.entries(data)) found[name] = each && each.type && "at" in each ? read(each) : each;
  return found;
}

function readColumn({ type, at, rows, coding }, bytes) {
  const values = new TYPES[type](rows);
  const raw = new Uint8Array(values.buffer);
  const width = values.BYTES_PER_ELEMENT;
  for (let plane = 0; plane < width; plane++) {
    let from = at + plane * rows;
    for (let i = plane; i < raw.length; i += width) raw[i] = bytes[from++];
  }
  if (coding !== "gaps") return values;
  const times = new Float64Array(rows);
  let ticks = 0;
  for (let i = 0; i < rows; i++) times[i] = (ticks += values[i]) / 1e6;
  return times;
}
