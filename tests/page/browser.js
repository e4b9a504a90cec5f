"use strict";
/* As much of a browser as the exported page needs: loads the page's script with elements and a canvas that only note what
 * is done to them. Drawing is noted in `drawn`: [what, style, …arguments]. */
const fs = require("fs"), vm = require("vm");

class Element {
  constructor(text, box) {
    Object.assign(this, {textContent: text, style: {}, listeners: {}, children: [], innerHTML: "",
                         hidden: false, value: "", dataset: {}, attributes: {},
                         classList: {add() {}, remove() {}, contains: () => false}, box});
  }
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  append(...children) {
    this.children.push(...children);
  }
  setPointerCapture() {}
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  focus() {}
  getBoundingClientRect() {
    return this.box;
  }
  getContext() {
    return this.context || (this.context = canvasContext());
  }
}

function canvasContext() {
  const drawn = [], kept = [], state = {measureText: text => ({width: 7 * text.length}),
        fillStyle: "", strokeStyle: "", textAlign: "left", globalAlpha: 1, drawn};
  state.save = () => kept.push({...state});
  state.restore = () => Object.assign(state, kept.pop());
  return new Proxy(state, {
    get: (target, name) => name in target && !["save", "restore"].includes(name) ? target[name] : (...args) => {
      const {fillStyle, strokeStyle, textAlign, globalAlpha} = target;
      drawn.push([name, {fillStyle, strokeStyle, textAlign, globalAlpha}, ...args]);
      if (name in target)
        target[name]();
    }
  });
}

class ImageData {
  constructor(width, height) {
    Object.assign(this, {width, height, data: new Uint8ClampedArray(4 * width * height)});
  }
}

function scriptsOf(page) {
  return [...page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)].map(match => ({
    id: (match[1].match(/id="([^"]*)"/) || [])[1], text: match[2]
  }));
}

/* Returns {elements, evaluate, send(element's id, event's name, event)}. */
function open(path, width, height) {
  const scripts = scriptsOf(fs.readFileSync(path, "utf8")), elements = {};
  for (const script of scripts.filter(one => one.id))
    elements[script.id] = new Element(script.text);
  const element = id => elements[id] || (elements[id] = new Element("", {width, height}));
  const document = new Element("");
  Object.assign(document, {getElementById: element, querySelector: element, documentElement: new Element(""),
                           createElement: () => new Element("", {width, height})});
  const sandbox = {document, ImageData, atob, requestAnimationFrame: action => action(),
                   getComputedStyle: () => ({getPropertyValue: name => name}), window: new Element("")};
  sandbox.window.matchMedia = () => new Element("");
  vm.createContext(sandbox);
  vm.runInContext(scripts.find(one => !one.id).text, sandbox, {filename: path});
  return {
    elements,
    evaluate: text => vm.runInContext(text, sandbox),
    send: (id, name, event) => (id ? element(id) : document).listeners[name]({preventDefault() {}, ...event})
  };
}

module.exports = {open};
