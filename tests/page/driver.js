"use strict";
/* A headless Chromium, through chromedriver's HTTP interface (W3C WebDriver). */
const {spawn} = require("child_process");

/* The port that chromedriver says it listens on. */
function started(process) {
  return new Promise((resolve, reject) => {
    let said = "";
    process.stdout.on("data", data => {
      said += data;
      const match = said.match(/started successfully on port (\d+)/);
      if (match)
        resolve(Number(match[1]));
    });
    process.on("exit", code => reject(new Error(`chromedriver ended with ${code}: ${said}`)));
    process.on("error", reject);
  });
}

async function send(url, method, body) {
  const response = await fetch(url, {method, body: body && JSON.stringify(body)});
  const {value} = await response.json();
  if (!response.ok)
    throw new Error(`${method} ${url}: ${value.message}`);
  return value;
}

/* {get, run, act, cdp, logs, screenshot, close}; all give promises. */
async function browser(width, height) {
  const process = spawn("chromedriver", ["--port=0"], {stdio: ["ignore", "pipe", "inherit"]});
  const root = `http://127.0.0.1:${await started(process)}`;
  const args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
                "--font-render-hinting=none", `--window-size=${width},${height}`];
  const {sessionId} = await send(`${root}/session`, "POST", {capabilities: {alwaysMatch: {
    browserName: "chrome", "goog:chromeOptions": {args}, "goog:loggingPrefs": {browser: "ALL", performance: "ALL"}
  }}});
  const at = `${root}/session/${sessionId}`;
  const cdp = (cmd, params) => send(`${at}/goog/cdp/execute`, "POST", {cmd, params});
  await cdp("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: false});
  return {
    get: url => send(`${at}/url`, "POST", {url}),
    run: script => send(`${at}/execute/sync`, "POST", {script, args: []}),
    act: (...actions) => send(`${at}/actions`, "POST", {actions}),
    cdp,
    logs: type => send(`${at}/se/log`, "POST", {type}),
    screenshot: async () => Buffer.from(await send(`${at}/screenshot`, "GET"), "base64"),
    close: async () => {
      await send(at, "DELETE").catch(() => {});
      process.removeAllListeners("exit");
      process.kill();
    }
  };
}

const mouse = (...actions) => ({type: "pointer", id: "mouse", parameters: {pointerType: "mouse"}, actions});
const move = (x, y) => ({type: "pointerMove", duration: 0, x: Math.round(x), y: Math.round(y)});
const down = {type: "pointerDown", button: 0}, up = {type: "pointerUp", button: 0};
const wheel = (x, y, deltaY) => ({type: "wheel", id: "wheel", actions: [
  {type: "scroll", duration: 0, x: Math.round(x), y: Math.round(y), deltaX: 0, deltaY, origin: "viewport"}]});
const keys = text => ({type: "key", id: "keys", actions: [...text].flatMap(value => [{type: "keyDown", value}, {type: "keyUp", value}])});

module.exports = {browser, mouse, move, down, up, wheel, keys};
