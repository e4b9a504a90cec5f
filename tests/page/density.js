"use strict";
/* Many blocks in few pixels: is every cycle of them in the picture, and do the two sides tell of each other?
 * node density.js PAGE */
const assert = require("assert"), {open} = require("./browser.js");

const page = open(process.argv[2], 480, 1100);
const {run, factsOf} = page.evaluate("({run, factsOf})");

for (const [index, side] of run.sides.entries()) {
  let taken = 0, seen = 0;
  for (let i = 0; i < side.blocks; i++)
    taken += side.end[i] - side.start[i];
  const image = page.evaluate(`density(run.sides[${index}], {from: 0, to: run.sides[${index}].sms}, 400)`);
  for (let p = 3; p < image.data.length; p += 4)
    seen += image.data[p] / 255;
  const cycles = seen * side.slots * page.evaluate("length") / 400;
  assert(Math.abs(cycles / taken - 1) < 0.005, `${side.label}: ${cycles} of ${taken} cycles`);
  for (let lane = 0; lane < side.sms * side.slots; lane++)
    for (let i = side.first[lane] + 1; i < side.first[lane + 1]; i++)
      assert(side.start[i] >= side.end[i - 1]);
}

const [measured, predicted] = run.sides;
const twin = [...predicted.block].findIndex((block, i) => block === measured.block[0] && predicted.launch[i] === measured.launch[0]);
const late = predicted.start[twin] - measured.start[0], facts = factsOf({side: measured, i: 0, sm: 0, slot: 0});
const told = Number(facts.match(/predicted start: ([+−]?[\d,.]+) cycles/)[1].replace("−", "-").replace(/,/g, ""));
assert(Math.abs(told - late) <= 0.051, facts);
