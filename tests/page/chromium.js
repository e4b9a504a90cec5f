"use strict";
/* The page in a real browser: can it be read, zoomed, panned, searched and printed, in light and dark, without asking the network?
 * node chromium.js PAGES SHOTS: PAGES holds rounds.html, replay.html, streams.html, lesson.html and space.html; screenshots go to SHOTS. */
const assert = require("assert"), fs = require("fs"), path = require("path");
const {browser, mouse, move, down, up, wheel, keys} = require("./driver.js");

const WIDTH = 1000, HEIGHT = 600, [, , pages, shots] = process.argv;
let page;

async function open(name) {
  await page.get(`file://${path.resolve(pages, name)}.html`);
  await page.run("view.marks = []; pin(null); fitAll()");
}

/* After what was asked for has been drawn. */
async function settled() {
  await page.cdp("Runtime.evaluate", {
    awaitPromise: true, expression: "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
  });
}

async function shoot(name) {
  await settled();
  fs.writeFileSync(path.join(shots, `${name}.png`), await page.screenshot());
}

/* Where a moment on an SM of a side lies in the window. */
function place(time, sm, side = 0) {
  return page.run(`const box = canvas.getBoundingClientRect(), band = bandOf(${side}), rows = rowsIn(run.sides[${side}], band);
                   return {x: box.left + x(${time}), y: box.top + rows.top + (run.sides[${side}].rows.indexOf(${sm}) + 0.5) * rows.pitch}`);
}

const seen = id => page.run(`const one = document.getElementById("${id}");
                             return getComputedStyle(one).display === "none" ? "" : one.innerText`);
const shown = () => page.run("return [view.from, view.to, view.rowFrom, view.rowTo]");

async function rounds() {
  await open("rounds");
  assert.match(await seen("metrics"), /3,000 cycles/);
  await shoot("page-rounds");

  const nine = await place(2500, 1), idle = await place(2500, 2);
  await page.act(mouse(move(nine.x, nine.y)));
  assert.match(await seen("facts"), /block 9 of 10\nSM 1, slot 0\n2,000 cycles to 3,000 cycles/);
  await page.act(mouse(move(idle.x, idle.y)));
  assert.strictEqual(await seen("facts"), "");

  /* The wheel zooms about the cursor. */
  await page.act(wheel(nine.x, nine.y, -400));
  await settled();
  const [from, to] = await shown();
  assert(Math.abs(to - from - 3000 * Math.exp(-0.6)) < 1, `${from} to ${to}`);
  assert(Math.abs((await place(2500, 1)).x - nine.x) < 1.5);
  await page.act(mouse(move(nine.x, nine.y), down, up));
  assert.match(await seen("pinned"), /block 9 of 10/);
  await shoot("page-zoomed");

  /* Dragging to the right goes back in time. */
  await page.act(mouse(move(500, nine.y), down, move(700, nine.y), up));
  assert((await shown())[0] < from);

  /* Keys. */
  await page.run("canvas.focus()");
  await page.act(keys("\uE00C"));
  assert.strictEqual(await seen("pinned"), "");
  await page.act(keys("f"));
  assert.deepStrictEqual(await shown(), [0, 3000, 0, 1]);
  await page.act(keys("w"));
  assert.strictEqual((await shown())[1] - (await shown())[0], 2400);
  await page.act(keys("sa"));
  assert.deepStrictEqual((await shown()).slice(0, 2), [0, 3000]);
  await page.act(keys("?"));
  assert.match(await seen("help"), /zoom in at the cursor/);
  await page.act(keys("?"));
  await page.act(keys("/8\uE007"));
  assert.match(await seen("pinned"), /block 8 of 10/);
  await page.act(keys(","));
  assert.match(await seen("pinned"), /block 4 of 10/);
  await page.act(keys("f"));
  assert.deepStrictEqual((await shown()).slice(0, 2), [500, 2500]);
}

async function dark() {
  await page.cdp("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: "dark"}]});
  await open("replay");
  assert.strictEqual(await page.run("return theme.paper"), "#16181c");
  assert.match(await seen("metrics"), /measured[^]*predicted[^]*error\s+[+−]?\d/);
  await shoot("page-replay-dark");
  await page.run('document.getElementById("theme").click()');
  await settled();
  assert.strictEqual(await page.run("return theme.paper"), "#fff");
  await page.cdp("Emulation.setEmulatedMedia", {features: []});
}

async function streams() {
  await open("streams");
  const span = await page.run(`const box = canvas.getBoundingClientRect(), host = run.sides[0].host, band = bandOf(0);
    const row = host.rows.findIndex(one => one.name === "to the device"), copy = host.rows[row].spans[0];
    return {x: box.left + x((copy.begin + copy.end) / 2), y: box.top + band.tracks + (row + 0.4) * TRACK}`);
  await page.act(mouse(move(span.x, span.y)));
  assert.match(await seen("facts"), /copy to the device\n[\d.]+ MB, [\d.]+ GB\/s/);
  await shoot("page-streams");
}

async function lesson() {
  await open("lesson");
  assert.match(await seen("question"), /with 5\?/);
  assert.strictEqual(await page.run('return document.getElementById("answer").open'), false);
  const waiting = await place(800, 2, 1);
  await page.act(mouse(move(waiting.x, waiting.y)));
  assert.match(await seen("facts"), /waits for ever from 500 cycles on/);
  await page.run('document.getElementById("answer").open = true');
  assert.match(await seen("answer"), /deadlock/);
  await page.act(mouse(move(5, 5)));
  await shoot("page-lesson");
  const pdf = Buffer.from((await page.cdp("Page.printToPDF", {printBackground: true, landscape: true})).data, "base64");
  assert.strictEqual(pdf.subarray(0, 5).toString(), "%PDF-");
  fs.writeFileSync(path.join(shots, "page-lesson.pdf"), pdf);
}

/* Shared memory instead of rows: blocks of 51 KB, each on the other. */
async function addresses() {
  await open("space");
  const third = await page.run(`const box = canvas.getBoundingClientRect(), band = bandOf(0), side = run.sides[0];
    return {x: box.left + x(side.lead + 5000), y: box.top + band.top + band.height * (1 - 130 * 1024 / side.space.total)}`);
  await page.act(mouse(move(third.x, third.y)));
  assert.match(await seen("facts"), /^small, block 2\n51 KB of shared memory from 102 KB on\n/);
}

async function quiet() {
  const errors = (await page.logs("browser")).filter(entry => entry.level === "SEVERE" || entry.level === "WARNING");
  assert.deepStrictEqual(errors.map(entry => entry.message), []);
  const asked = (await page.logs("performance")).map(entry => JSON.parse(entry.message).message)
    .filter(message => message.method === "Network.requestWillBeSent").map(message => message.params.request.url);
  assert(asked.length >= 5);
  assert.deepStrictEqual(asked.filter(url => !url.startsWith("file://")), []);
}

(async () => {
  page = await browser(WIDTH, HEIGHT);
  try {
    for (const part of [rounds, dark, streams, lesson, addresses, quiet])
      await part();
  } finally {
    await page.close();
  }
})().catch(error => {
  console.error(error);
  process.exit(1);
});
