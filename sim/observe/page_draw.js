/* ---- Places ---- */

const MOST_SHAPES = 6000; // visible blocks up to which each is drawn as a shape
const LEAST_LANE = 3;     // pixels of a lane's height from which blocks are drawn as shapes
const LEFT = 64, RIGHT = 16, TOP = 22, BOTTOM = 6, CAPTION = 24, TRACK = 18, TRACK_SPACE = 8,
      MARKS = 22, MOST_TRACKS = 16, CURVE = 52, CURVE_SPACE = 10;
const LEAST_FOR_CURVE = 170; // height for each side

const canvas = document.getElementById("plot"), facts = document.getElementById("facts");
const context = canvas.getContext("2d");
let width = 0, height = 0, left = LEFT, theme = {};

function x(t) {
  return left + (t - view.from) / (view.to - view.from) * (width - left - RIGHT);
}

function timeAt(px) {
  return view.from + (px - left) / (width - left - RIGHT) * (view.to - view.from);
}

function tracksOf(side) {
  return side.host ? side.host.rows.slice(0, MOST_TRACKS) : [];
}

function remarksOf(index) {
  return run.story ? run.story.remarks.map((remark, i) => ({...remark, number: i + 1})).filter(remark => remark.side === index) : [];
}

/* What stands over a side's rows, in pixels. */
function headOf(side, index) {
  const tracks = tracksOf(side).length;
  return {caption: run.sides.length > 1 ? CAPTION : 0, tracks: tracks && tracks * TRACK + TRACK_SPACE,
          marks: remarksOf(index).length ? MARKS : 0, curve: side.space || height / run.sides.length < LEAST_FOR_CURVE ? 0 : CURVE};
}

/* Where a side is seen: its host's tracks, its remarks' numbers, the band of its rows, and the curve. All bands are equally high. */
function bandOf(index) {
  const heads = run.sides.map(headOf), sum = head => head.caption + head.tracks + head.marks + head.curve;
  const each = Math.max(20, (height - TOP - BOTTOM - heads.reduce((all, head) => all + sum(head), 0)) / run.sides.length);
  const begin = TOP + heads.slice(0, index).reduce((all, head) => all + sum(head) + each, 0), head = heads[index];
  const tracks = begin + head.caption, marks = tracks + head.tracks;
  const top = marks + head.marks;
  return {caption: begin + head.caption - 7, tracks, marks, top, height: each,
          curve: top + each + CURVE_SPACE, curveHeight: Math.max(0, head.curve - CURVE_SPACE)};
}

/* Height of an SM's row, and the top of the first one, which may lie above the band. */
function rowsIn(side, band) {
  const pitch = band.height / side.sms / (view.rowTo - view.rowFrom);
  return {pitch, top: band.top - view.rowFrom * side.sms * pitch, gap: pitch > 10 ? 2 : pitch > 6 ? 1 : 0};
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

function shade(side, i) {
  return SHADES[side.launch[i] % SHADES.length][side.shade[i]];
}

/* Also of a block that waits for ever, which does nothing more from `stuck` on. */
function drawShape(side, i, colour, box) {
  const waits = side.stuck && side.end[i] > side.stuck ? Math.max(box.x, x(side.stuck)) : box.x + box.width;
  context.fillStyle = css(colour);
  context.fillRect(box.x, box.y, Math.min(waits - box.x, box.width), box.height);
  if (waits < box.x + box.width) {
    context.globalAlpha = 0.25;
    context.fillRect(waits, box.y, box.x + box.width - waits, box.height);
    context.globalAlpha = 1;
    context.fillStyle = theme.ink;
    if (box.height >= 13)
      context.fillText("waits", waits + 8, box.y + box.height / 2 + 4);
  }
  if (box.height >= 12 && waits - box.x >= 46)
    drawNumber(side, i, colour, box.x + 4, box.y + box.height / 2 + 4);
}

function drawShapes(side, rows, seen) {
  const laneHeight = (rows.pitch - rows.gap) / side.slots;
  for (let row = seen.from; row < seen.to; row++)
    for (let slot = 0; slot < side.slots; slot++) {
      const lane = side.rows[row] * side.slots + slot, exact = rows.top + row * rows.pitch + slot * laneHeight;
      const y = Math.round(exact), high = Math.round(exact + laneHeight) - y;
      for (let i = firstAfter(side, lane, view.from); i < side.first[lane + 1] && side.start[i] < view.to; i++) {
        const begin = Math.max(left, x(side.start[i])), right = Math.min(width - RIGHT, x(side.end[i]));
        drawShape(side, i, shade(side, i), {x: begin, y, width: Math.max(0.5, right - begin),
                                                   height: laneHeight > 5 ? high - 1 : high});
      }
    }
}

function drawNumber(side, i, colour, px, baseline) {
  const persistent = side.launches[side.launch[i]].persistent;
  context.fillStyle = readable(colour);
  context.fillText(String(persistent ? side.task[i] : side.block[i]), px, baseline);
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
                    shade(side, i), 1 / side.slots);
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
  const columns = Math.max(1, Math.floor(width - left - RIGHT));
  const buffer = document.createElement("canvas");
  buffer.width = columns;
  buffer.height = seen.to - seen.from;
  buffer.getContext("2d").putImageData(density(side, seen, columns), 0, 0);
  context.imageSmoothingEnabled = false;
  for (let row = seen.from; row < seen.to && rows.gap > 0; row++)
    context.drawImage(buffer, 0, row - seen.from, columns, 1, left, rows.top + row * rows.pitch, columns, rows.pitch - rows.gap);
  if (rows.gap === 0)
    context.drawImage(buffer, left, rows.top + seen.from * rows.pitch, columns, (seen.to - seen.from) * rows.pitch);
}

/* Nothing waits any more: a tint, diagonals and a line where it begins. Tails narrower than 3 pixels are not shown. */
/* Nothing waits any more: a tint, diagonals and a line where it begins. Tails narrower than 3 pixels are not shown. */
function drawTail(side, band) {
  for (const [begin, end] of run.story && !run.story.tails ? [] : side.tails) {
    const from = Math.max(left, x(begin)), to = Math.min(width - RIGHT, x(end));
    if (to - from < 3)
      continue;
    context.save();
    context.beginPath();
    context.rect(from, band.top, to - from, band.height);
    context.clip();
    context.strokeStyle = context.fillStyle = theme.accent;
    context.globalAlpha = 0.1;
    context.fillRect(from, band.top, to - from, band.height);
    context.globalAlpha = 0.35;
    context.beginPath();
    for (let c = from - band.height; c < to; c += 9) {
      context.moveTo(c, band.top + band.height);
      context.lineTo(c + band.height, band.top);
    }
    context.stroke();
    context.restore();
    context.fillStyle = theme.accent;
    if (x(begin) >= left)
      context.fillRect(from, band.top - 3, 1, band.height + 3);
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
      context.fillRect(left - 46, y, 46, 1);
    if (y < free || y + 11 > band.top + band.height || y < band.top - 1)
      continue;
    if (rows.pitch >= 12)
      context.fillText(`SM ${side.rows[row]}`, left - 6, y + Math.min(rows.pitch / 2, 20) + 4);
    else if (begins || (!grouped && row % 10 === 0)) {
      context.fillText(grouped ? `GPC ${gpc}` : `SM ${side.rows[row]}`, left - 6, y + 11);
      free = y + 13;
    }
  }
  context.textAlign = "left";
}

/* ---- Shared memory instead of rows ---- */

/* A range is [launch, block, offset, bytes, held, start, end, known]: times after the first block's start. Its addresses, in two parts
 * where they go on at 0. */
function partsOf(space, range) {
  const [, , offset, bytes] = range, over = offset + bytes - space.total;
  return over > 0 ? [[offset, space.total], [0, over]] : [[offset, offset + bytes]];
}

/* Pale while reserved or not yet known to be free, full while the block runs. */
function drawSpace(side, band) {
  const y = address => band.top + band.height * (1 - address / side.space.total), lead = side.lead;
  for (const range of side.space.ranges) {
    const [launch, block, , , held, start, end, known] = range, colour = COLOURS[launch % COLOURS.length];
    for (const [low, high] of partsOf(side.space, range)) {
      const top = y(high), tall = y(low) - top - 1;
      context.fillStyle = css(colour);
      context.globalAlpha = 0.35;
      context.fillRect(x(held + lead), top, x(known + lead) - x(held + lead), tall);
      context.globalAlpha = 1;
      context.fillRect(x(start + lead), top, x(end + lead) - x(start + lead), tall);
      context.fillStyle = readable(colour);
      if (tall >= 13 && x(end + lead) - x(start + lead) > 40)
        context.fillText(String(block), Math.max(left, x(start + lead)) + 4, top + tall / 2 + 4);
    }
  }
}

function drawAddresses(side, band) {
  context.fillStyle = theme.grey;
  context.textAlign = "right";
  const step = 32 * Math.ceil(14 * side.space.total / 1024 / 32 / band.height);
  for (let kb = 0; kb * 1024 <= side.space.total; kb += step) {
    const y = band.top + band.height * (1 - kb * 1024 / side.space.total);
    context.fillText(`${kb} KB`, left - 6, Math.max(band.top + 9, y));
    context.fillRect(left - 4, y, 4, 1);
  }
  context.textAlign = "left";
}

/* ---- The host's side ---- */

function colourOf(span) {
  return span.kind === "copy" ? COPY_COLOURS[span.direction] : COLOURS[span.launch % COLOURS.length];
}

/* A call's time, and paler what it waits of it. */
function drawCall(span, begin, end, y) {
  const waits = Math.max(begin, Math.min(end, x(span.end - span.waited)));
  context.fillStyle = theme.line;
  context.fillRect(begin, y, Math.max(0.5, waits - begin), TRACK - 4);
  context.globalAlpha = 0.4;
  context.fillRect(waits, y, end - waits, TRACK - 4);
  context.globalAlpha = 1;
}

function drawFlag(px, y) {
  context.fillStyle = theme.accent;
  context.beginPath();
  context.moveTo(px, y);
  context.lineTo(px + 6, y + 3);
  context.lineTo(px, y + 6);
  context.fill();
  context.fillRect(px, y, 1, TRACK - 4);
}

/* Cut to the room. */
function drawWithin(text, px, baseline, room) {
  let shown = text;
  while (shown && context.measureText(shown + (shown === text ? "" : "…")).width > room)
    shown = shown.slice(0, -1);
  if (shown)
    context.fillText(shown === text ? text : shown + "…", px, baseline);
}

function drawSpan(span, y) {
  const begin = Math.max(left, x(span.begin)), end = Math.min(width - RIGHT, x(span.end));
  if (end < left || begin > width - RIGHT)
    return;
  if (span.kind === "record")
    return drawFlag(begin, y);
  if (span.kind === "call")
    drawCall(span, begin, end, y);
  else {
    context.fillStyle = css(colourOf(span));
    context.fillRect(begin, y, Math.max(0.5, end - begin - 0.5), TRACK - 4);
  }
  context.fillStyle = span.kind === "call" ? theme.ink : readable(colourOf(span));
  if (end - begin >= 30)
    drawWithin(span.name, begin + 3, y + 11, end - begin - 6);
}

function drawTracks(side, band) {
  for (const [i, row] of tracksOf(side).entries()) {
    const y = band.tracks + i * TRACK;
    context.fillStyle = theme.grey;
    context.textAlign = "right";
    drawWithin(row.name, left - 6, y + 11, left - 8);
    context.textAlign = "left";
    context.fillStyle = theme.faint;
    context.fillRect(left, y, width - left - RIGHT, TRACK - 4);
    for (const span of row.spans)
      drawSpan(span, y);
  }
}

/* ---- Resident blocks over time ---- */

/* The sorted times, and before each of them the sum of those before it. */
function summed(times) {
  const sorted = times.slice().sort(), before = new Float64Array(sorted.length + 1);
  for (let i = 0; i < sorted.length; i++)
    before[i + 1] = before[i] + sorted[i];
  return {sorted, before};
}

/* The sum of t - time over the times before t. */
function sinceTimes({sorted, before}, t) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < t)
      low = middle + 1;
    else
      high = middle;
  }
  return low * t - before[low];
}

/* Mean resident blocks in [from, to): exact, however many blocks begin and end in it. */
function resident(side, from, to) {
  const started = side.started = side.started || summed(side.start), ended = side.ended = side.ended || summed(side.end);
  const area = t => sinceTimes(started, t) - sinceTimes(ended, t);
  return Math.max(0, (area(to) - area(from)) / (to - from));
}

/* What the SMs hold where all launches' blocks fit alike; 0: they do not. */
function capacityOf(side) {
  const each = new Set(side.launches.map(launch => launch.blocks_per_sm));
  return each.size === 1 ? side.sms * [...each][0] : 0;
}

function drawCurve(side, band) {
  if (!band.curveHeight)
    return;
  const columns = Math.max(1, Math.floor(width - left - RIGHT)), bottom = band.curve + band.curveHeight - 4, values = [];
  for (let column = 0; column < columns; column++)
    values.push(resident(side, timeAt(left + column), timeAt(left + column + 1)));
  const most = Math.max(1, capacityOf(side), ...values), y = value => bottom - value / most * (bottom - band.curve - 2);
  context.fillStyle = css(COLOURS[0]);
  context.globalAlpha = 0.45;
  context.beginPath();
  context.moveTo(left, bottom);
  for (const [column, value] of values.entries()) {
    context.lineTo(left + column, y(value));
    context.lineTo(left + column + 1, y(value));
  }
  context.lineTo(left + columns, bottom);
  context.fill();
  context.globalAlpha = 1;
  context.fillStyle = theme.grey;
  context.fillRect(left, bottom, width - left - RIGHT, 1);
  context.textAlign = "right";
  context.fillText(plain(Math.round(most)), left - 6, band.curve + 8);
  context.fillText("blocks", left - 6, bottom);
  context.textAlign = "left";
  for (let px = left; capacityOf(side) === most && px < width - RIGHT; px += 8)
    context.fillRect(px, band.curve + 2, 4, 1);
}

/* ---- Remarks and marks ---- */

/* A number over its moment, beside the one before it where they would overlap, and a line down. */
function drawRemarks(side, index, band) {
  let free = left;
  for (const remark of remarksOf(index)) {
    const px = x(side.lead + remark.at), shown = Math.max(px, free);
    if (px < left - 1 || shown > width)
      continue;
    context.fillStyle = theme.ink;
    for (let y = band.marks + 10; y < band.top + band.height; y += 7)
      context.fillRect(px, y, 1, 4);
    context.beginPath();
    context.arc(shown, band.marks + 10, 8, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = theme.paper;
    context.textAlign = "center";
    context.fillText(String(remark.number), shown, band.marks + 14);
    context.textAlign = "left";
    free = shown + 19;
  }
}

/* Moments that the reader marked, and how far apart they are. */
function drawMarks() {
  context.fillStyle = theme.accent;
  for (const [i, at] of view.marks.entries()) {
    if (at < view.from || at > view.to)
      continue;
    context.fillRect(x(at), TOP - 4, 1, height - TOP);
    context.fillText("AB"[i], x(at) + 3, height - BOTTOM - 3);
  }
  if (view.marks.length < 2)
    return;
  const [a, b] = view.marks, middle = Math.min(width - 100, Math.max(left + 60, (x(a) + x(b)) / 2));
  const text = `B − A: ${signed(b - a, words(Math.abs(b - a)))}`, room = context.measureText(text).width;
  context.fillStyle = theme.paper;
  context.fillRect(middle - room / 2 - 4, TOP - 2, room + 8, 17);
  context.fillStyle = theme.accent;
  context.textAlign = "center";
  context.fillText(text, middle, TOP + 11);
  context.textAlign = "left";
}

function drawPinned() {
  if (!view.pinned || view.pinned.side.space)
    return;
  const {side, i, sm, slot} = view.pinned, band = bandOf(run.sides.indexOf(side)), rows = rowsIn(side, band);
  const lane = (rows.pitch - rows.gap) / side.slots, y = rows.top + side.rows.indexOf(sm) * rows.pitch + slot * lane;
  const begin = Math.max(left - 2, x(side.start[i])), end = Math.min(width - RIGHT + 2, x(side.end[i]));
  if (end < left || begin > width - RIGHT || y + lane < band.top || y > band.top + band.height)
    return;
  context.strokeStyle = theme.ink;
  context.lineWidth = 2;
  context.strokeRect(begin, y - 1, Math.max(3, end - begin), Math.max(3, lane + 1));
  context.lineWidth = 1;
}

/* ---- Everything ---- */

function captionOf(side) {
  if (side.stuck)
    return `${side.label}: a deadlock; nothing happens any more from ${words(side.stuck)} on`;
  if (side.host)
    return `${side.label}: first call to the end ${words(side.host.end)}`;
  return `${side.label}: makespan ${words(side.metrics.makespan)}` + (side.metrics.has_tail ? `, tail ${words(side.metrics.tail)}` : "");
}

function drawSide(side, index) {
  const band = bandOf(index), rows = rowsIn(side, band), seen = visibleRows(side, band, rows);
  context.fillStyle = theme.ink;
  if (run.sides.length > 1)
    context.fillText(captionOf(side), left, band.caption);
  drawTracks(side, band);
  context.save();
  context.beginPath();
  context.rect(left, band.top - 3, width - left - RIGHT, band.height + 3);
  context.clip();
  context.fillStyle = theme.faint;
  context.fillRect(left, band.top, x(Math.max(side.lead + side.metrics.makespan, side.host ? side.host.end : 0)) - left, band.height);
  const laneHeight = (rows.pitch - rows.gap) / side.slots;
  if (!side.space)
    drawTail(side, band);
  if (side.space)
    drawSpace(side, band);
  else if (laneHeight >= LEAST_LANE && visibleBlocks(side, seen, MOST_SHAPES) <= MOST_SHAPES)
    drawShapes(side, rows, seen);
  else
    drawDensity(side, rows, seen);
  context.restore();
  if (side.space)
    drawAddresses(side, band);
  else
    drawRowNames(side, band, rows, seen);
  drawCurve(side, band);
  drawRemarks(side, index, band);
}

function stepFor(span, most) {
  const rough = span / most, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(m => m * power).find(step => step >= rough);
}

function drawAxis() {
  const scale = view.inMicroseconds ? clock : 1;
  const step = stepFor((view.to - view.from) / scale, Math.max(2, (width - left) / 110));
  context.fillStyle = theme.grey;
  for (let k = Math.ceil(view.from / scale / step); k * step * scale <= view.to; k++) {
    const at = x(k * step * scale);
    context.fillRect(at, TOP - 5, 1, 5);
    context.textAlign = at > width - 70 ? "right" : "left";
    context.fillText(plain(k * step), at + (at > width - 70 ? -3 : 3), TOP - 8);
  }
  context.textAlign = "right";
  context.fillText(view.inMicroseconds ? "µs" : "cycles", left - 6, TOP - 8);
  context.textAlign = "left";
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "grey", "faint", "line", "accent"])
    theme[name] = style.getPropertyValue(`--${name}`).trim();
}

function draw() {
  const printing = document.documentElement.classList.contains("printing");
  const ratio = Math.max(window.devicePixelRatio || 1, printing ? 2 : 1), box = canvas.getBoundingClientRect();
  width = box.width;
  height = box.height;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px DejaVu Sans, system-ui, sans-serif";
  readTheme();
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, width, height);
  left = run.sides.some(side => side.host) ? LEFT + 30 : LEFT;
  run.sides.forEach(drawSide);
  drawPinned();
  drawAxis();
  drawMarks();
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
