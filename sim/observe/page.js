"use strict";
/* The timeline of one or two runs ("sides") on one clock. Times are in cycles from each side's first start. How a side's
 * blocks are packed stands in html.c. */

const UNITS_PER_CYCLE = 1024;
const MOST_SHAPES = 6000; // visible blocks up to which each is drawn as a shape
const LEAST_LANE = 3;     // pixels of a lane's height from which blocks are drawn as shapes
const LEFT = 64, RIGHT = 16, TOP = 22, BOTTOM = 6, SIDE_GAP = 24;

/* Okabe and Ito's palette without vermillion (the tail) and black (text); shades alternate from block to block. */
const COLOURS = [[0x00, 0x72, 0xb2], [0xe6, 0x9f, 0x00], [0x00, 0x9e, 0x73], [0xcc, 0x79, 0xa7], [0x56, 0xb4, 0xe9],
                 [0xf0, 0xe4, 0x42]];

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

/* Adds to the side: start, end (cycles), block, launch, task by index, and first: for each lane the index of its first block. */
function unpack(side, bytes) {
  const read = numbersOf(bytes), lanes = side.sms * side.slots;
  Object.assign(side, {start: new Float64Array(side.blocks), end: new Float64Array(side.blocks),
                       block: new Float64Array(side.blocks), launch: new Uint32Array(side.blocks),
                       task: new Float64Array(side.tasks ? side.blocks : 0), first: new Uint32Array(lanes + 1)});
  for (let lane = 0, i = 0; lane < lanes; lane++) {
    let time = 0, block = 0, launch = 0, task = 0;
    for (let left = read.next(); left > 0; left--, i++) {
      side.start[i] = (time += read.next()) / UNITS_PER_CYCLE;
      side.end[i] = (time += read.next()) / UNITS_PER_CYCLE;
      side.block[i] = block += read.change();
      side.launch[i] = launch += read.change();
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

const run = JSON.parse(document.getElementById("run").textContent);
for (const side of run.sides) {
  unpack(side, bytesOf(document.getElementById(side.label).textContent));
  side.rows = rowsOf(side);
}

/* ---- View ---- */

const canvas = document.getElementById("plot"), facts = document.getElementById("facts");
const context = canvas.getContext("2d");
const length = Math.max(1, ...run.sides.map(side => side.metrics.makespan));
const clock = run.sides[0].clock_mhz;
const view = {from: 0, to: length, rowFrom: 0, rowTo: 1, inMicroseconds: false}; // rows as a share of all
let width = 0, height = 0, theme = {};

function x(t) {
  return LEFT + (t - view.from) / (view.to - view.from) * (width - LEFT - RIGHT);
}

function timeAt(px) {
  return view.from + (px - LEFT) / (width - LEFT - RIGHT) * (view.to - view.from);
}

/* The band in which a side's rows are seen. */
function bandOf(index) {
  const captions = run.sides.length > 1 ? SIDE_GAP : 0;
  const each = (height - TOP - BOTTOM) / run.sides.length;
  return {top: TOP + index * each + captions, height: each - captions};
}

/* Height of an SM's row, and the top of the first one, which may lie above the band. */
function rowsIn(side, band) {
  const pitch = band.height / side.sms / (view.rowTo - view.rowFrom);
  return {pitch, top: band.top - view.rowFrom * side.sms * pitch, gap: pitch > 8 ? 2 : pitch > 4 ? 1 : 0};
}

function visibleRows(side, band, rows) {
  const from = Math.max(0, Math.floor((band.top - rows.top) / rows.pitch));
  return {from, to: Math.min(side.sms, Math.ceil((band.top + band.height - rows.top) / rows.pitch))};
}

function visibleBlocks(side, seen, most) {
  let count = 0;
  for (let row = seen.from; row < seen.to && count <= most; row++)
    for (let slot = 0; slot < side.slots; slot++) {
      const lane = side.rows[row] * side.slots + slot;
      count += Math.max(0, Math.min(firstAfter(side, lane, view.to) + 1, side.first[lane + 1]) - firstAfter(side, lane, view.from));
    }
  return count;
}

/* ---- Drawing ---- */

function shade(side, i, lane) {
  return SHADES[side.launch[i] % SHADES.length][(i - side.first[lane]) % 2];
}

function drawShapes(side, rows, seen) {
  const laneHeight = (rows.pitch - rows.gap) / side.slots;
  for (let row = seen.from; row < seen.to; row++)
    for (let slot = 0; slot < side.slots; slot++) {
      const lane = side.rows[row] * side.slots + slot, y = rows.top + row * rows.pitch + slot * laneHeight;
      for (let i = firstAfter(side, lane, view.from); i < side.first[lane + 1] && side.start[i] < view.to; i++) {
        const left = Math.max(LEFT, x(side.start[i])), right = Math.min(width - RIGHT, x(side.end[i]));
        const colour = shade(side, i, lane);
        context.fillStyle = css(colour);
        context.fillRect(left, y, Math.max(0.5, right - left), laneHeight > 5 ? laneHeight - 1 : laneHeight);
        if (laneHeight >= 13 && right - left >= 46)
          drawNumber(side, i, colour, left + 4, y + laneHeight / 2 + 4);
      }
    }
}

function drawNumber(side, i, colour, left, baseline) {
  const persistent = side.launches[side.launch[i]].persistent;
  context.fillStyle = luminance(colour) < 0.45 ? "#fff" : "#111";
  context.fillText(String(persistent ? side.task[i] : side.block[i]), left, baseline);
}

/* Every pixel gets the share of its slots' time that is taken, and the mean colour of what takes it: no block is left out,
 * however many fall into one pixel. `sums` holds, for each pixel, red, green, blue and the share. */
function addToPixels(sums, columns, from, to, colour, weight) {
  const first = Math.max(0, Math.floor(from)), last = Math.min(columns - 1, Math.floor(to));
  for (let column = first; column <= last; column++) {
    const share = weight * (Math.min(to, column + 1) - Math.max(from, column));
    if (share <= 0)
      continue;
    sums[4 * column] += share * colour[0];
    sums[4 * column + 1] += share * colour[1];
    sums[4 * column + 2] += share * colour[2];
    sums[4 * column + 3] += share;
  }
}

function density(side, seen, columns) {
  const image = new ImageData(columns, seen.to - seen.from), scale = columns / (view.to - view.from);
  for (let row = seen.from; row < seen.to; row++) {
    const sums = new Float32Array(4 * columns);
    for (let slot = 0; slot < side.slots; slot++) {
      const lane = side.rows[row] * side.slots + slot;
      for (let i = firstAfter(side, lane, view.from); i < side.first[lane + 1] && side.start[i] < view.to; i++)
        addToPixels(sums, columns, (side.start[i] - view.from) * scale, (side.end[i] - view.from) * scale,
                    shade(side, i, lane), 1 / side.slots);
    }
    const offset = 4 * columns * (row - seen.from);
    for (let p = 0; p < 4 * columns; p += 4)
      if (sums[p + 3] > 0) {
        for (let c = 0; c < 3; c++)
          image.data[offset + p + c] = sums[p + c] / sums[p + 3];
        image.data[offset + p + 3] = 255 * Math.min(1, sums[p + 3]);
      }
  }
  return image;
}

function drawDensity(side, rows, seen) {
  const columns = Math.max(1, Math.floor(width - LEFT - RIGHT));
  const buffer = document.createElement("canvas");
  buffer.width = columns;
  buffer.height = seen.to - seen.from;
  buffer.getContext("2d").putImageData(density(side, seen, columns), 0, 0);
  context.imageSmoothingEnabled = false;
  for (let row = seen.from; row < seen.to && rows.gap > 0; row++)
    context.drawImage(buffer, 0, row - seen.from, columns, 1, LEFT, rows.top + row * rows.pitch, columns, rows.pitch - rows.gap);
  if (rows.gap === 0)
    context.drawImage(buffer, LEFT, rows.top + seen.from * rows.pitch, columns, (seen.to - seen.from) * rows.pitch);
}

/* Nothing waits any more: a tint, diagonals and a line where it begins. Tails narrower than 3 pixels are not shown. */
function drawTail(side, band) {
  for (const [begin, end] of side.tails) {
    const left = Math.max(LEFT, x(begin)), right = Math.min(width - RIGHT, x(end));
    if (right - left < 3)
      continue;
    context.save();
    context.beginPath();
    context.rect(left, band.top, right - left, band.height);
    context.clip();
    context.strokeStyle = context.fillStyle = theme.accent;
    context.globalAlpha = 0.1;
    context.fillRect(left, band.top, right - left, band.height);
    context.globalAlpha = 0.35;
    context.beginPath();
    for (let c = left - band.height; c < right; c += 9) {
      context.moveTo(c, band.top + band.height);
      context.lineTo(c + band.height, band.top);
    }
    context.stroke();
    context.restore();
    context.fillStyle = theme.accent;
    if (x(begin) >= LEFT)
      context.fillRect(left, band.top - 3, 1, band.height + 3);
  }
}

function drawRowNames(side, band, rows, seen) {
  context.fillStyle = theme.grey;
  context.textAlign = "right";
  const grouped = new Set(side.gpc).size > 1;
  for (let row = seen.from, free = 0; row < seen.to; row++) {
    const y = rows.top + row * rows.pitch, gpc = side.gpc[side.rows[row]];
    const begins = grouped && (row === 0 || gpc !== side.gpc[side.rows[row - 1]]);
    if (begins && row > seen.from)
      context.fillRect(LEFT - 46, y, 46, 1);
    if (y < free || y + 11 > band.top + band.height || y < band.top - 1)
      continue;
    if (rows.pitch >= 12)
      context.fillText(`SM ${side.rows[row]}`, LEFT - 6, y + Math.min(rows.pitch / 2, 20) + 4);
    else if (begins || (!grouped && row % 10 === 0)) {
      context.fillText(grouped ? `GPC ${gpc}` : `SM ${side.rows[row]}`, LEFT - 6, y + 11);
      free = y + 13;
    }
  }
  context.textAlign = "left";
}

function drawSide(side, index) {
  const band = bandOf(index), rows = rowsIn(side, band), seen = visibleRows(side, band, rows);
  if (run.sides.length > 1) {
    context.fillStyle = theme.ink;
    context.fillText(`${side.label}: makespan ${words(side.metrics.makespan)}, tail ${words(side.metrics.tail)}`, LEFT, band.top - 7);
  }
  context.save();
  context.beginPath();
  context.rect(LEFT, band.top - 3, width - LEFT - RIGHT, band.height + 3);
  context.clip();
  context.fillStyle = theme.faint;
  context.fillRect(LEFT, band.top, width - LEFT - RIGHT, band.height);
  drawTail(side, band);
  const laneHeight = (rows.pitch - rows.gap) / side.slots;
  if (laneHeight >= LEAST_LANE && visibleBlocks(side, seen, MOST_SHAPES) <= MOST_SHAPES)
    drawShapes(side, rows, seen);
  else
    drawDensity(side, rows, seen);
  context.restore();
  drawRowNames(side, band, rows, seen);
}

function stepFor(span, most) {
  const rough = span / most, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(m => m * power).find(step => step >= rough);
}

function drawAxis() {
  const scale = view.inMicroseconds ? clock : 1;
  const step = stepFor((view.to - view.from) / scale, Math.max(2, (width - LEFT) / 110));
  context.fillStyle = theme.grey;
  for (let k = Math.ceil(view.from / scale / step); k * step * scale <= view.to; k++) {
    const at = x(k * step * scale);
    context.fillRect(at, TOP - 5, 1, 5);
    context.textAlign = at > width - 70 ? "right" : "left";
    context.fillText(plain(k * step), at + (at > width - 70 ? -3 : 3), TOP - 8);
  }
  context.textAlign = "right";
  context.fillText(view.inMicroseconds ? "µs" : "cycles", LEFT - 6, TOP - 8);
  context.textAlign = "left";
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "grey", "faint", "accent"])
    theme[name] = style.getPropertyValue(`--${name}`).trim();
}

function draw() {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  width = box.width;
  height = box.height;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px DejaVu Sans, system-ui, sans-serif";
  readTheme();
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, width, height);
  run.sides.forEach(drawSide);
  drawAxis();
}

let waiting = false;
function redraw() {
  if (waiting)
    return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

/* ---- Words ---- */

/* At most three decimals, one from 100 on; thousands apart. */
function plain(value) {
  const scale = Math.abs(value) >= 100 ? 10 : 1000;
  const [whole, fraction] = String(Math.round(value * scale) / scale).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction ? "." + fraction : "");
}

function words(cycles) {
  return view.inMicroseconds ? `${plain(cycles / clock)} µs` : `${plain(cycles)} cycles`;
}

function percent(share) {
  return share === null ? "–" : `${(100 * share).toFixed(1)} %`;
}

function signed(value, text) {
  return (value > 0 ? "+" : value < 0 ? "−" : "") + text;
}

function showMetrics() {
  const number = digits => value => value === null ? "–" : value.toFixed(digits).replace(/\.0+$/, "");
  const lines = [["makespan", "makespan", words], ["tail", "tail", words], ["tail, share of makespan", "tail_fraction", percent],
                 ["slot time idle in the tail", "tail_slot_idle", percent],
                 ["occupancy, theoretical", "occupancy_theoretical", percent],
                 ["occupancy, achieved", "occupancy_achieved", percent], ["SMs busy, mean", "sm_busy", percent],
                 ["waves", "waves", number(2)], ["blocks", "blocks", plain], ["a block's time, median", "block_median", words]];
  const cell = (kind, text) => `<${kind}>${text}</${kind}>`;
  const row = (kind, cells) => `<tr>${cells.map((text, i) => cell(i ? kind : "th", text)).join("")}</tr>`;
  const [a, b] = run.sides;
  let rows = lines.map(([name, key, format]) => row("td", [name, ...run.sides.map(side => format(side.metrics[key]))]));
  if (b && a.metrics.makespan > 0) {
    const error = Math.round(10000 * (b.metrics.makespan / a.metrics.makespan - 1)) / 100;
    rows.splice(1, 0, row("td", ["error of the makespan", "", signed(error, `${Math.abs(error).toFixed(2)} %`)]));
  }
  document.getElementById("metrics").innerHTML =
    `<thead>${row("th", ["", ...run.sides.map(side => side.label)])}</thead><tbody>${rows.join("")}</tbody>`;
}

function showHeading() {
  document.querySelector("h1").textContent = run.title;
  const legend = document.getElementById("legend"), launches = run.sides[0].launches, most = 12;
  for (const [i, launch] of launches.slice(0, most).entries()) {
    const entry = document.createElement("span"), mark = document.createElement("i");
    mark.style.background = css(COLOURS[i % COLOURS.length]);
    entry.append(mark, `${launch.name}: ${plain(launch.grid)} × ${launch.threads} threads`);
    legend.append(entry);
  }
  if (launches.length > most)
    legend.append(`and ${launches.length - most} more launches`);
}

/* ---- Looking closer ---- */

/* The block at a place: {side, i, sm, slot}, or null. */
function blockAt(px, py) {
  for (const [index, side] of run.sides.entries()) {
    const band = bandOf(index), rows = rowsIn(side, band);
    if (px < LEFT || px > width - RIGHT || py < band.top || py >= band.top + band.height)
      continue;
    const row = Math.floor((py - rows.top) / rows.pitch), sm = side.rows[row];
    const slot = Math.floor((py - rows.top - row * rows.pitch) / (rows.pitch - rows.gap) * side.slots);
    if (sm === undefined || slot >= side.slots)
      return null;
    const lane = sm * side.slots + slot, i = firstAfter(side, lane, timeAt(px));
    return i < side.first[lane + 1] && side.start[i] <= timeAt(px) ? {side, i, sm, slot} : null;
  }
  return null;
}

function factsOf({side, i, sm, slot}) {
  const launch = side.launches[side.launch[i]], grouped = new Set(side.gpc).size > 1;
  const lines = [`${launch.name}, launch ${launch.number}`,
                 `block ${plain(side.block[i])} of ${plain(launch.grid)}` + (launch.persistent ? `, task ${plain(side.task[i])}` : ""),
                 `${grouped ? `GPC ${side.gpc[sm]}, ` : ""}SM ${sm}, slot ${slot}`,
                 `${words(side.start[i])} to ${words(side.end[i])}`, `lasts ${words(side.end[i] - side.start[i])}`];
  const other = run.sides.find(one => one !== side);
  const twin = other && partner(other, side.launch[i], side.block[i], side.task[i] || 0);
  if (twin !== undefined) {
    const late = other.start[twin] - side.start[i];
    lines.push(`${other.label} start: ${signed(late, words(Math.abs(late)))}`);
  }
  return lines.join("\n");
}

function showFacts(px, py) {
  const found = blockAt(px, py);
  facts.style.display = found ? "block" : "none";
  if (!found)
    return;
  facts.textContent = factsOf(found);
  const box = facts.getBoundingClientRect();
  facts.style.left = `${Math.min(px + 14, width - box.width - 4)}px`;
  facts.style.top = `${Math.max(0, Math.min(py + 14, height - box.height - 4))}px`;
}

/* ---- Moving ---- */

/* Zooms [from, to] about `at`, kept within [0, most]. */
function zoomed(from, to, at, factor, least, most) {
  const span = Math.min(most, Math.max(least, (to - from) * factor));
  const start = at - (at - from) * span / (to - from);
  return moved(start, start + span, 0, most);
}

function moved(from, to, by, most) {
  const start = Math.min(most - (to - from), Math.max(0, from + by));
  return [start, start + to - from];
}

function zoomTime(at, factor) {
  [view.from, view.to] = zoomed(view.from, view.to, at, factor, Math.min(length, 10), length);
  redraw();
}

function zoomRows(share, factor) {
  const most = Math.max(...run.sides.map(side => side.sms)), at = view.rowFrom + share * (view.rowTo - view.rowFrom);
  [view.rowFrom, view.rowTo] = zoomed(view.rowFrom, view.rowTo, at, factor, 1 / most, 1);
  redraw();
}

function pan(time, rows) {
  [view.from, view.to] = moved(view.from, view.to, time, length);
  [view.rowFrom, view.rowTo] = moved(view.rowFrom, view.rowTo, rows, 1);
  redraw();
}

function fit() {
  Object.assign(view, {from: 0, to: length, rowFrom: 0, rowTo: 1});
  redraw();
}

function showUnit() {
  const button = document.getElementById("unit");
  button.textContent = view.inMicroseconds ? "show cycles" : "show µs";
  button.hidden = !(clock > 0);
  showMetrics();
  redraw();
}

function shareOfBand(py) {
  const index = run.sides.length > 1 && py >= bandOf(1).top ? 1 : 0, band = bandOf(index);
  return Math.min(1, Math.max(0, (py - band.top) / band.height));
}

canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const factor = Math.exp((event.deltaY || event.deltaX) * 0.0015);
  if (event.shiftKey)
    zoomRows(shareOfBand(event.offsetY), factor);
  else
    zoomTime(timeAt(event.offsetX), factor);
}, {passive: false});

let held = null;
canvas.addEventListener("pointerdown", event => {
  held = {x: event.offsetX, y: event.offsetY};
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => {
  held = null;
});
canvas.addEventListener("pointermove", event => {
  if (!held)
    return showFacts(event.offsetX, event.offsetY);
  facts.style.display = "none";
  pan((held.x - event.offsetX) / (width - LEFT - RIGHT) * (view.to - view.from),
      (held.y - event.offsetY) / bandOf(0).height * (view.rowTo - view.rowFrom));
  held = {x: event.offsetX, y: event.offsetY};
});
canvas.addEventListener("pointerleave", () => {
  facts.style.display = "none";
});

const keys = {
  w: () => zoomTime((view.from + view.to) / 2, 0.8), s: () => zoomTime((view.from + view.to) / 2, 1.25),
  a: () => pan((view.from - view.to) / 10, 0), d: () => pan((view.to - view.from) / 10, 0), f: fit,
  arrowleft: () => pan((view.from - view.to) / 10, 0), arrowright: () => pan((view.to - view.from) / 10, 0),
  arrowup: () => pan(0, (view.rowFrom - view.rowTo) / 10), arrowdown: () => pan(0, (view.rowTo - view.rowFrom) / 10)
};
document.addEventListener("keydown", event => {
  const action = keys[event.key.toLowerCase()];
  if (!action || event.ctrlKey || event.metaKey || event.altKey)
    return;
  event.preventDefault();
  action();
});

document.getElementById("fit").addEventListener("click", fit);
document.getElementById("unit").addEventListener("click", () => {
  view.inMicroseconds = !view.inMicroseconds;
  showUnit();
});
window.addEventListener("resize", redraw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

showHeading();
showUnit();
draw();
