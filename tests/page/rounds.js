"use strict";
/* The page of 10 equal blocks on 4 SMs (1,000 cycles each, block k on SM k % 4): what does it draw and tell?
 * node rounds.js PAGE */
const assert = require("assert"), {open} = require("./browser.js");

const WIDTH = 1080, HEIGHT = 480, LEFT = 64, PLOT = 1000, ROW = 100, TOP = 22; // as page_draw.js lays them out
const page = open(process.argv[2], WIDTH, HEIGHT), {plot, facts, metrics} = page.elements;
const at = (time, sm) => ({offsetX: LEFT + time / 3000 * PLOT, offsetY: TOP + sm * ROW + 40});
const drawnNow = () => {
  plot.context.drawn.length = 0;
  page.evaluate("draw()");
  return plot.context.drawn;
};
const near = (a, b) => Math.abs(a - b) < 1e-6;
const isBlock = rect => rect[1].fillStyle.startsWith("rgb(") && rect[1].globalAlpha === 1;

/* Ten shapes: block k from 1000 floor(k/4) on in the row of SM k % 4. */
const rects = drawnNow().filter(one => one[0] === "fillRect" && isBlock(one));
assert.strictEqual(rects.length, 10);
for (let k = 0; k < 10; k++)
  assert(rects.some(([, , x, y, w]) => near(x, at(1000 * Math.floor(k / 4), 0).offsetX) && near(w, PLOT / 3) &&
                                       Math.abs(y - TOP - ROW * (k % 4)) < 3), `block ${k}`);
/* The tail is tinted from 2,000 to the end. */
assert(plot.context.drawn.some(([name, style, x, , w]) => name === "fillRect" && style.globalAlpha === 0.1 &&
                                                          near(x, at(2000, 0).offsetX) && near(w, PLOT / 3)));

const heads = [...metrics.innerHTML.matchAll(/<th scope="col">(.*?)<\/th>/g)].map(match => match[1]);
const cells = [...metrics.innerHTML.matchAll(/<td>(.*?)<\/td>/g)].map(match => match[1]);
const metric = name => cells[heads.indexOf(name)];
assert.strictEqual(metric("makespan"), "3,000 cycles");
assert.strictEqual(metric("tail"), "1,000 cycles");
assert.strictEqual(metric("slot time idle in the tail"), "50.0 %");
assert.strictEqual(metric("waves"), "2.50");
assert.match(plot.attributes["aria-label"], /10 blocks on 4 SMs, makespan 3,000 cycles, of it tail 33.3 %/);

/* Hover: block 9 runs on SM 1 in the third round; SM 2 has none then. */
page.send("plot", "pointermove", at(2500, 1));
assert.strictEqual(facts.style.display, "block");
assert.match(facts.textContent, /^equal, launch 0\nblock 9 of 10\nSM 1, slot 0\n2,000 cycles to 3,000 cycles\nlasts 1,000 cycles$/);
page.send("plot", "pointermove", at(2500, 2));
assert.strictEqual(facts.style.display, "none");

/* Under the rows: resident blocks. */
page.send("plot", "pointermove", {offsetX: at(2500, 0).offsetX, offsetY: HEIGHT - 20});
assert.match(facts.textContent, /^2,500 cycles\n2 of 4 blocks resident$/);
assert.strictEqual(page.evaluate("resident(run.sides[0], 1500, 2500)"), 3);

/* The wheel zooms about the cursor; dragging pans, not beyond the ends; F shows everything again. */
const cursor = at(1200, 0), before = page.evaluate(`timeAt(${cursor.offsetX})`);
page.send("plot", "wheel", {...cursor, deltaY: -400});
assert(near(page.evaluate(`timeAt(${cursor.offsetX})`), before));
assert(near(page.evaluate("view.to - view.from"), 3000 * Math.exp(-0.6)));
const from = page.evaluate("view.from"), span = page.evaluate("view.to - view.from");
page.send("plot", "pointerdown", {offsetX: 500, offsetY: 100, pointerId: 1});
page.send("plot", "pointermove", {offsetX: 400, offsetY: 100});
assert(near(page.evaluate("view.from"), from + span / 10));
page.send("plot", "pointermove", {offsetX: -9000, offsetY: 100});
assert(near(page.evaluate("view.to"), 3000));
page.send("plot", "pointerup", {});
page.send("plot", "wheel", {...cursor, deltaY: -400, shiftKey: true});
assert(page.evaluate("view.rowTo - view.rowFrom") < 0.6);
page.send(null, "keydown", {key: "F"});
assert.deepStrictEqual(Object.values(page.evaluate("[view.from, view.to, view.rowFrom, view.rowTo]")), [0, 3000, 0, 1]);
