/* ---- Looking closer ---- */

/* The span of the host's side at a place: {side, row, span}, or null. */
function spanAt(side, band, px, py) {
  const row = tracksOf(side)[Math.floor((py - band.tracks) / TRACK)], near = Math.abs(timeAt(4) - timeAt(0));
  const hit = row && row.spans.filter(span => timeAt(px) >= span.begin - (span.kind === "record" ? near : 0) &&
                                              timeAt(px) < Math.max(span.end, span.begin + near));
  return hit && hit.length ? {side, row, span: hit[hit.length - 1]} : null;
}

/* The held range of shared memory at a place: {side, range}, or null. */
function rangeAt(side, band, px, py) {
  const address = (1 - (py - band.top) / band.height) * side.space.total, at = timeAt(px) - side.lead;
  const range = side.space.ranges.find(one => one[4] <= at && at < one[7] &&
                                              partsOf(side.space, one).some(([low, high]) => low <= address && address < high));
  return range ? {side, range} : null;
}

/* What is at a place: a block {side, i, sm, slot}, a span of the host's side, a range of addresses, a moment of the
 * curve {side, at}, or null. */
function found(px, py) {
  for (const [index, side] of run.sides.entries()) {
    const band = bandOf(index), rows = rowsIn(side, band);
    if (px < left || px > width - RIGHT || py < band.tracks || py >= Math.max(band.top + band.height, band.curve + band.curveHeight))
      continue;
    if (py >= band.top + band.height)
      return py >= band.curve && band.curveHeight ? {side, at: timeAt(px)} : null;
    if (py < band.top)
      return spanAt(side, band, px, py);
    if (side.space)
      return rangeAt(side, band, px, py);
    const row = Math.floor((py - rows.top) / rows.pitch), sm = side.rows[row];
    const slot = Math.floor((py - rows.top - row * rows.pitch) / (rows.pitch - rows.gap) * side.slots);
    if (sm === undefined || slot >= side.slots)
      return null;
    const lane = sm * side.slots + slot, i = firstAfter(side, lane, timeAt(px));
    return i < side.first[lane + 1] && side.start[i] <= timeAt(px) ? {side, i, sm, slot} : null;
  }
  return null;
}

function placeFacts(px, py) {
  const box = facts.getBoundingClientRect();
  facts.style.left = `${Math.max(0, Math.min(px + 14, width - box.width - 4))}px`;
  facts.style.top = `${Math.max(0, Math.min(py + 14, height - box.height - 4))}px`;
}

function hideFacts() {
  facts.style.display = "none";
}

function showFacts(px, py) {
  const what = found(px, py), pinned = view.pinned;
  if (!what || (pinned && pinned.side === what.side && pinned.i === what.i))
    return hideFacts();
  facts.style.display = "block";
  facts.textContent = factsOf(what);
  placeFacts(px, py);
}

function pin(block) {
  view.pinned = block;
  const box = document.getElementById("pinned");
  box.hidden = !block;
  if (block)
    box.textContent = factsOf(block);
  redraw();
}

/* The block's place in its lane tells SM and slot. */
function blockOf(side, i) {
  let low = 0, high = side.sms * side.slots;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (side.first[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return {side, i, sm: Math.floor(low / side.slots), slot: low % side.slots};
}

/* Moves the view so that the block is in it. */
function bringIn({side, i, sm}) {
  const span = view.to - view.from, rows = view.rowTo - view.rowFrom, row = (side.rows.indexOf(sm) + 0.5) / side.sms;
  if (side.start[i] < view.from || side.end[i] > view.to)
    [view.from, view.to] = moved((side.start[i] + side.end[i] - span) / 2, (side.start[i] + side.end[i] + span) / 2, 0, length);
  if (row < view.rowFrom || row > view.rowTo)
    [view.rowFrom, view.rowTo] = moved(row - rows / 2, row + rows / 2, 0, 1);
}

/* The next or previous block in the pinned one's slot; without one the first of all. */
function step(by) {
  const side = view.pinned ? view.pinned.side : run.sides[0], lane = view.pinned && view.pinned.sm * side.slots + view.pinned.slot;
  const i = view.pinned ? view.pinned.i + by : 0;
  if (i >= side.blocks || (view.pinned && (i < side.first[lane] || i >= side.first[lane + 1])))
    return;
  const block = blockOf(side, i);
  bringIn(block);
  pin(block);
}

/* BLOCK, or LAUNCH:BLOCK. False: there is none such. */
function search(text) {
  const match = text.trim().match(/^(?:(\d+):)?(\d+)$/);
  for (const side of match ? run.sides : []) {
    const launches = side.launches.map((launch, i) => [launch, i]).filter(([launch]) => !match[1] || launch.number === Number(match[1]));
    for (const [, launch] of launches) {
      const i = side.block.findIndex((block, k) => block === Number(match[2]) && side.launch[k] === launch);
      if (i < 0)
        continue;
      const block = blockOf(side, i);
      bringIn(block);
      pin(block);
      return true;
    }
  }
  return false;
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

function fitAll() {
  Object.assign(view, {from: 0, to: length, rowFrom: 0, rowTo: 1});
  redraw();
}

/* The pinned block with as much again around it; the next time, and without one, everything. */
function fit() {
  if (!view.pinned)
    return fitAll();
  const {side, i} = view.pinned, lasts = side.end[i] - side.start[i];
  const span = Math.min(length, Math.max(10, 2 * lasts)), middle = (side.start[i] + side.end[i]) / 2;
  const [from, to] = moved(middle - span / 2, middle + span / 2, 0, length);
  if (from === view.from && to === view.to)
    return fitAll();
  Object.assign(view, {from, to});
  redraw();
}

function showUnit() {
  const button = document.getElementById("unit");
  button.textContent = view.inMicroseconds ? "Show cycles" : "Show µs";
  button.hidden = !(clock > 0);
  canvas.setAttribute("aria-label", summary());
  showMetrics();
  if (view.pinned)
    pin(view.pinned);
  redraw();
}

function changeUnit() {
  view.inMicroseconds = !view.inMicroseconds;
  showUnit();
}

function changeTheme() {
  const root = document.documentElement, dark = getComputedStyle(root).getPropertyValue("--dark").trim() === "1";
  root.dataset.theme = dark ? "light" : "dark";
  redraw();
}

function shareOfBand(py) {
  const index = run.sides.length > 1 && py >= bandOf(1).top ? 1 : 0, band = bandOf(index);
  return Math.min(1, Math.max(0, (py - band.top) / band.height));
}

/* The third moment begins anew. */
function mark() {
  view.marks = view.marks.length < 2 ? [...view.marks, cursorTime()] : [];
  redraw();
}

/* ---- Mouse and touch ---- */

let held = null, cursor = null; // {x, y, moved}; the cursor's place or null
function cursorTime() {
  return cursor === null ? (view.from + view.to) / 2 : Math.min(view.to, Math.max(view.from, timeAt(cursor)));
}

canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const factor = Math.exp((event.deltaY || event.deltaX) * 0.0015);
  if (event.shiftKey)
    zoomRows(shareOfBand(event.offsetY), factor);
  else
    zoomTime(timeAt(event.offsetX), factor);
}, {passive: false});

canvas.addEventListener("pointerdown", event => {
  held = {x: event.offsetX, y: event.offsetY, moved: 0};
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", event => {
  const what = held && held.moved < 4 ? found(event.offsetX, event.offsetY) : null;
  if (held && held.moved < 4)
    pin(what && what.i !== undefined ? what : null);
  held = null;
});
canvas.addEventListener("pointermove", event => {
  cursor = event.offsetX;
  if (!held)
    return showFacts(event.offsetX, event.offsetY);
  hideFacts();
  pan((held.x - event.offsetX) / (width - left - RIGHT) * (view.to - view.from),
      (held.y - event.offsetY) / bandOf(0).height * (view.rowTo - view.rowFrom));
  held = {x: event.offsetX, y: event.offsetY,
          moved: held.moved + Math.abs(held.x - event.offsetX) + Math.abs(held.y - event.offsetY)};
});
canvas.addEventListener("pointerleave", () => {
  cursor = null;
  hideFacts();
});

/* ---- Keys ---- */

const help = document.getElementById("help"), field = document.getElementById("search");

const KEYS = [
  {keys: ["w"], shown: "W", does: "zoom in at the cursor", action: () => zoomTime(cursorTime(), 0.8)},
  {keys: ["s"], shown: "S", does: "zoom out", action: () => zoomTime(cursorTime(), 1.25)},
  {keys: ["a", "arrowleft"], shown: "A ←", does: "pan to the left", action: () => pan((view.from - view.to) / 10, 0)},
  {keys: ["d", "arrowright"], shown: "D →", does: "pan to the right", action: () => pan((view.to - view.from) / 10, 0)},
  {keys: ["arrowup"], shown: "↑", does: "SMs further up", action: () => pan(0, (view.rowFrom - view.rowTo) / 10)},
  {keys: ["arrowdown"], shown: "↓", does: "SMs further down", action: () => pan(0, (view.rowTo - view.rowFrom) / 10)},
  {keys: ["+"], shown: "+", does: "fewer SMs, higher", action: () => zoomRows(0.5, 0.8)},
  {keys: ["-"], shown: "−", does: "more SMs, lower", action: () => zoomRows(0.5, 1.25)},
  {keys: ["f"], shown: "F", does: "fit the pinned block, then everything", action: fit},
  {keys: ["."], shown: ".", does: "pin the slot's next block", action: () => step(1)},
  {keys: [","], shown: ",", does: "pin the slot's previous block", action: () => step(-1)},
  {keys: ["/"], shown: "/", does: "find a block: its number, or LAUNCH:NUMBER", action: () => field.focus()},
  {keys: ["m"], shown: "M", does: "mark a time, then another: how far apart?", action: mark},
  {keys: ["u"], shown: "U", does: "cycles or µs", action: () => clock > 0 && changeUnit()},
  {keys: ["escape"], shown: "Esc", does: "let go of the pinned block, close this", action: () => {
    help.hidden = true;
    view.marks = [];
    pin(null);
  }},
  {keys: ["?"], shown: "?", does: "these keys", action: () => help.hidden = !help.hidden}
];

function showKeys() {
  const row = (key, does) => `<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`;
  help.innerHTML = `<h2>Keys</h2><table>${KEYS.map(key => row(key.shown, key.does)).join("")}</table>
    <h2>Mouse</h2><table>${row("Wheel", "zoom at the cursor; with Shift: SMs")}${row("Drag", "pan")}${
      row("Click", "pin a block; beside it: let go")}${row("Hover", "what is there")}</table>`;
}

document.addEventListener("keydown", event => {
  const key = KEYS.find(one => one.keys.includes(event.key.toLowerCase()));
  if (!key || event.ctrlKey || event.metaKey || event.altKey || event.target === field)
    return;
  event.preventDefault();
  key.action();
});

field.addEventListener("keydown", event => {
  if (event.key === "Enter")
    field.setAttribute("aria-invalid", search(field.value) ? "false" : "true");
  if (event.key === "Enter" || event.key === "Escape")
    canvas.focus();
});

document.getElementById("fit").addEventListener("click", fitAll);
document.getElementById("unit").addEventListener("click", changeUnit);
document.getElementById("theme").addEventListener("click", changeTheme);
document.getElementById("keys").addEventListener("click", () => help.hidden = !help.hidden);
if (window.ResizeObserver)
  new ResizeObserver(redraw).observe(canvas);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

/* On paper: light, with the answer. */
window.addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  document.getElementById("answer").open = true;
  draw();
});
window.addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  draw();
});

showHeading();
showKeys();
showUnit();
draw();
