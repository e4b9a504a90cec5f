"use strict";
/* The timeline of one or two runs ("sides") on one clock. Times are in cycles from each side's first start or, where the host's side is
 * known, from its first call. How a side's blocks are packed stands in html.c, what else there is in html_run.c. */

const UNITS_PER_CYCLE = 1024;

/* Okabe and Ito's palette without vermillion (the tail) and black (text); shades alternate from block to block. */
const COLOURS = [[0x00, 0x72, 0xb2], [0xe6, 0x9f, 0x00], [0x00, 0x9e, 0x73], [0xcc, 0x79, 0xa7], [0x56, 0xb4, 0xe9],
                 [0xf0, 0xe4, 0x42]];
const COPY_COLOURS = [[77, 77, 87], [143, 143, 153], [184, 173, 158]]; // to the device, to the host, within the device
const COPY_NAMES = ["copy to the device", "copy to the host", "copy within the device"];

function mixed(colour, other, share) {
  return colour.map((c, i) => Math.round(c + (other[i] - c) * share));
}

function luminance(c) {
  return (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]) / 255;
}

function secondShade(c) {
  return luminance(c) > 0.6 ? mixed(c, [0, 0, 0], 0.3) : mixed(c, [255, 255, 255], 0.5);
}

const SHADES = COLOURS.map(c => [c, secondShade(c)]);

function css(colour) {
  return `rgb(${colour.join(",")})`;
}

function readable(colour) {
  return luminance(colour) < 0.45 ? "#fff" : "#111";
}

/* ---- Data ---- */

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++)
    bytes[i] = text.charCodeAt(i);
  return bytes;
}

function numbersOf(bytes) {
  let at = 0;
  const next = () => {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  const change = () => {
    const value = next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
  return {next, change};
}

/* Adds to the side: start, end (cycles), block, launch, task, shade by index, and first: for each lane the index of its first block.
 * Shades alternate within a slot, anew with each launch. */
function unpack(side, bytes) {
  const read = numbersOf(bytes), lanes = side.sms * side.slots;
  Object.assign(side, {start: new Float64Array(side.blocks), end: new Float64Array(side.blocks),
                       block: new Float64Array(side.blocks), launch: new Uint32Array(side.blocks), shade: new Uint8Array(side.blocks),
                       task: new Float64Array(side.tasks ? side.blocks : 0), first: new Uint32Array(lanes + 1)});
  for (let lane = 0, i = 0; lane < lanes; lane++) {
    let time = side.lead * UNITS_PER_CYCLE, block = 0, launch = 0, task = 0;
    for (let left = read.next(); left > 0; left--, i++) {
      side.start[i] = (time += read.next()) / UNITS_PER_CYCLE;
      side.end[i] = (time += read.next()) / UNITS_PER_CYCLE;
      side.block[i] = block += read.change();
      side.launch[i] = launch += read.change();
      side.shade[i] = i > side.first[lane] && side.launch[i - 1] === launch ? 1 - side.shade[i - 1] : 0;
      if (side.tasks)
        side.task[i] = task += read.change();
    }
    side.first[lane + 1] = i;
  }
}

/* SMs from top to bottom: by GPC, then by number. */
function rowsOf(side) {
  return [...Array(side.sms).keys()].sort((a, b) => side.gpc[a] - side.gpc[b] || a - b);
}

/* The first block of the lane that ends after t. Blocks of a lane don't overlap, so ends are in order, too. */
function firstAfter(side, lane, t) {
  let low = side.first[lane], high = side.first[lane + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (side.end[middle] > t)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The same block on the other side: index, or undefined. */
function partner(other, launch, block, task) {
  const key = (l, b, t) => `${l}/${b}/${t}`;
  if (!other.index) {
    other.index = new Map();
    for (let i = 0; i < other.blocks; i++)
      other.index.set(key(other.launch[i], other.block[i], other.task[i] || 0), i);
  }
  return other.index.get(key(launch, block, task));
}

/* Adds to the host's side: for each track that is used, its name and its spans. */
function arrangeHost(host) {
  const kinds = {thread: "", stream: "stream ", engine: ""};
  const spans = host.spans.map(([kind, track, second, name, begin, end, waited, bytes, direction, launch]) =>
    ({kind, track, second, name: host.names[name], begin, end, waited, bytes, direction, launch}));
  host.rows = host.tracks.map(([kind, name], i) => ({
    kind, name: (kind === "stream" && /^[0-9]/.test(name) ? kinds[kind] : "") + name.replace(/^copies /, ""),
    spans: spans.filter(span => span.track === i || span.second === i)
  })).filter(row => row.spans.length > 0);
}

const run = JSON.parse(document.getElementById("run").textContent);
for (const side of run.sides) {
  unpack(side, bytesOf(document.getElementById(`blocks${side.number}`).textContent));
  side.rows = rowsOf(side);
  if (side.host)
    arrangeHost(side.host);
}
