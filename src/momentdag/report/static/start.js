// Shared by all parts of the page: the content, element factories, the selected variable.
const content = JSON.parse(document.getElementById("content").textContent);
const names = content.names;
const MOMENTS = ["mean", "variance"];
const WORDS = { mean: "mean", variance: "spread" };

const byId = (id) => document.getElementById(id);

// Text is only ever set as text, so that no name of a column can become markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// A probability is never shown as certain when it is not: 0.996 is "> 0.99", not "1.00".
function share(p) {
  if (p > 0 && p < 0.005) return "< 0.01";
  if (p < 1 && p >= 0.995) return "> 0.99";
  return p.toFixed(2);
}

// What the model alone says of an edge, where that differs: see the section on convergence.
function beside({ plain, unsure }) {
  if (plain === null) return "";
  return `model ${share(plain)}${unsure ? ": sure under the model, not sure of the model" : ""}`;
}

function number(x) {
  return x === null ? "–" : Number(x.toPrecision(3)).toString();
}

const chosen = { variable: content.first, listeners: [] };

function choose(variable) {
  chosen.variable = variable;
  for (const listener of chosen.listeners) listener(variable);
}
