/* ---- Words ---- */

const length = Math.max(1, ...run.sides.map(side => Math.max(side.lead + side.metrics.makespan, side.host ? side.host.end : 0)));
const clock = run.sides[0].clock_mhz;
const view = {from: 0, to: length, rowFrom: 0, rowTo: 1, // rows as a share of all
              inMicroseconds: false, pinned: null, marks: []};

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

function count(number, what) {
  return `${plain(number)} ${what}${number === 1 ? "" : "s"}`;
}

const METRICS = (() => {
  const fixed = digits => value => value === null ? "–" : value.toFixed(digits).replace(/\.0+$/, "");
  const ofTail = format => (value, metrics) => metrics.has_tail ? format(value) : "none";
  return [
    ["makespan", "makespan", value => words(value)], ["tail", "tail", ofTail(value => words(value))],
    ["tail, share of makespan", "tail_fraction", ofTail(percent)],
    ["slot time idle in the tail", "tail_slot_idle", ofTail(percent)],
    ["occupancy, theoretical", "occupancy_theoretical", percent], ["occupancy, achieved", "occupancy_achieved", percent],
    ["SMs busy, mean", "sm_busy", percent], ["waves", "waves", fixed(2)], ["blocks", "blocks", plain],
    ["a block's time, median", "block_median", value => words(value)]
  ];
})();

function metricsOf(side) {
  return METRICS.map(([, key, format]) => side.stuck && key !== "blocks" ? "–" : format(side.metrics[key], side.metrics));
}

/* How the second makespan differs from the first. */
function difference() {
  const [a, b] = run.sides;
  if (!b || !(a.metrics.makespan > 0) || a.stuck || b.stuck)
    return null;
  const error = Math.round(10000 * (b.metrics.makespan / a.metrics.makespan - 1)) / 100;
  return signed(error, `${Math.abs(error).toFixed(2)} %`);
}

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

function showMetrics() {
  const head = METRICS.map(([name]) => `<th scope="col">${name}</th>`).join("");
  const rows = run.sides.map(side => `<tr><th scope="row">${escaped(side.label)}</th>${
    metricsOf(side).map(text => `<td>${text}</td>`).join("")}</tr>`);
  if (difference() !== null)
    rows.push(`<tr><th scope="row">${run.prediction ? "error" : "difference"}</th><td>${difference()}</td></tr>`);
  document.getElementById("metrics").innerHTML =
    `<caption>Metrics of the whole run</caption><thead><tr><th></th>${head}</tr></thead><tbody>${rows.join("")}</tbody>`;
}

function legendEntry(colour, text) {
  const entry = document.createElement("span"), mark = document.createElement("i");
  mark.style.background = css(colour);
  entry.append(mark, text);
  document.getElementById("legend").append(entry);
}

function showLegend() {
  const launches = run.sides[0].launches, many = launches.length > COLOURS.length;
  const names = [...new Set(launches.map(launch => launch.name))].slice(0, COLOURS.length);
  for (const [i, launch] of many ? [] : launches.entries())
    legendEntry(COLOURS[i], `${launch.name}: ${plain(launch.grid)}${launch.threads > 0 ? ` × ${launch.threads} threads` : ""}`);
  if (many)
    document.getElementById("legend").append(`${plain(launches.length)} launches, whose colours repeat: ${names.join(", ")}\u2003`);
  const spans = run.sides.flatMap(side => side.host ? side.host.spans : []);
  for (const [i, name] of COPY_NAMES.entries())
    if (spans.some(span => span[0] === "copy" && span[8] === i))
      legendEntry(COPY_COLOURS[i], name);
}

/* What a reader who does not see the picture is told. */
function summary() {
  const of = side => `${side.label}: ${count(side.metrics.blocks, "block")} on ${count(side.sms, "SM")}` + (side.stuck
    ? `, a deadlock from ${words(side.stuck)} on` : `, makespan ${words(side.metrics.makespan)}` +
      (side.metrics.has_tail ? `, of it tail ${percent(side.metrics.tail_fraction)}` : ", no tail"));
  return `Timeline. ${run.sides.map(of).join("; ")}. Keys . and , go from block to block.`;
}

function showStory() {
  if (!run.story)
    return;
  const put = (id, text) => document.getElementById(id).textContent = text;
  put("scenario", run.story.scenario);
  put("question", run.story.question);
  put("answered", run.story.answer);
  for (const remark of run.story.remarks) {
    const item = document.createElement("li");
    item.append(remark.text);
    document.getElementById("remarks").append(item);
  }
  document.getElementById("story").hidden = false;
}

function showHeading() {
  document.getElementById("title").textContent = run.title;
  showLegend();
  showStory();
}

/* ---- Facts ---- */

function factsOfBlock({side, i, sm, slot}) {
  const launch = side.launches[side.launch[i]], grouped = new Set(side.gpc).size > 1, stuck = side.stuck && side.end[i] > side.stuck;
  const lines = [`${launch.name}, launch ${launch.number}`,
                 `block ${plain(side.block[i])} of ${plain(launch.grid)}` + (launch.persistent ? `, task ${plain(side.task[i])}` : ""),
                 `${grouped ? `GPC ${side.gpc[sm]}, ` : ""}SM ${sm}, slot ${slot}`];
  if (stuck)
    return lines.concat(`${words(side.start[i])}; waits for ever from ${words(side.stuck)} on`).join("\n");
  lines.push(`${words(side.start[i])} to ${words(side.end[i])}`, `lasts ${words(side.end[i] - side.start[i])}`);
  const other = run.sides.find(one => one !== side);
  const twin = other && partner(other, side.launch[i], side.block[i], side.task[i] || 0);
  if (twin !== undefined) {
    const late = other.start[twin] - side.start[i];
    lines.push(`${other.label} start: ${signed(late, words(Math.abs(late)))}`);
  }
  return lines.join("\n");
}

function factsOfSpan({row, span}) {
  const lasts = span.end - span.begin, lines = [`${span.name}, ${row.name}`];
  if (span.kind === "record")
    return lines.concat(`event recorded at ${words(span.begin)}`).join("\n");
  lines.push(`${words(span.begin)} to ${words(span.end)}`, `lasts ${words(lasts)}`);
  if (span.kind === "call" && span.waited > 0)
    lines.push(`waits ${words(span.waited)} of it`);
  if (span.kind === "copy")
    lines.push(COPY_NAMES[span.direction], `${plain(span.bytes / 1e6)} MB` +
               (clock > 0 && lasts > 0 ? `, ${plain(span.bytes * clock / lasts / 1000)} GB/s` : ""));
  return lines.join("\n");
}

function factsOfMoment({side, at}) {
  const pixel = (view.to - view.from) / (width - left - RIGHT), capacity = capacityOf(side);
  return `${words(at)}\n${plain(Math.round(10 * resident(side, at, at + pixel)) / 10)}` +
         (capacity ? ` of ${plain(capacity)}` : "") + " blocks resident";
}

function factsOfRange({side, range: [launch, block, offset, bytes, , start, end]}) {
  const kb = value => plain(Math.round(10 * value / 1024) / 10);
  return [`${side.launches[launch].name}, block ${plain(block)}`, `${kb(bytes)} KB of shared memory from ${kb(offset)} KB on`,
          `${words(start + side.lead)} to ${words(end + side.lead)}`].join("\n");
}

function factsOf(found) {
  if (found.range)
    return factsOfRange(found);
  if (found.at !== undefined)
    return factsOfMoment(found);
  return found.span ? factsOfSpan(found) : factsOfBlock(found);
}
