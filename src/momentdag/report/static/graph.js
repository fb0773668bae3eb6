// Both graphs in one drawing. Positions come from the layout; the slider hides improbable edges.
const ROW = 62, NODE_HEIGHT = 36, MARGIN = 28, APART = 6, HEAD = 10, PORTS = 24, LIKELY = 0.3;

const graph = { edges: [], nodes: [], threshold: 0.5, moment: "both", zoom: 1, focused: false, near: false };
const MOST_EDGES = 60;  // that the page opens with

function shortName(name) {
  return name.length > 18 ? `${name.slice(0, 17)}…` : name;
}

function buildGraph() {
  const widths = names.map((name) => Math.max(64, 8.6 * shortName(name).length + 26));
  const column = Math.max(...widths) + 110;
  const place = ([x, y]) => [
    MARGIN + x * column + Math.max(...widths) / 2, MARGIN + y * ROW + NODE_HEIGHT / 2];
  const at = content.picture.places.map(place);
  const all = [...at, ...content.picture.edges.flatMap((edge) => edge.via.map(place))];
  const leaving = ports("cause", "effect", at, place), entering = ports("effect", "cause", at, place);
  const ends = (edge) => [leaving.get(pairOf(edge)) ?? 0, entering.get(pairOf(edge)) ?? 0];
  return assemble(content.picture.edges, at, widths, {
    width: Math.max(...at.map(([x]) => x)) + Math.max(...widths) / 2 + MARGIN,
    height: Math.max(...all.map(([, y]) => y)) + NODE_HEIGHT / 2 + MARGIN,
  }, (edge) => edge.via.map(place), ends, "Mean and variance graph; the table of edges below has the same content");
}

// A picture of these edges and of the variables that have a place in `at`, which may have holes.
function assemble(edges, at, widths, { width, height }, viaOf, endsOf, label) {
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
  const variance = new Set(edges.filter((edge) => edge.moment === "variance").map(pairOf));
  const edgeLayer = makeSvg("g"), nodeLayer = makeSvg("g");
  const drawn = edges.map((edge) => {
    const twin = variance.has(pairOf(edge)) ? APART / 2 : 0;
    const element = drawEdge(edge, at, widths, viaOf(edge), edge.moment === "mean" ? -twin : twin, endsOf(edge));
    edgeLayer.append(element);
    return { ...edge, element, line: element.querySelector(".line"), label: element.lastChild };
  });
  const nodes = at.map((place, k) => {
    const element = drawNode(names[k], k, place, widths[k]);
    nodeLayer.append(element);
    return element;
  });
  svg.append(edgeLayer, nodeLayer);
  return { svg, edges: drawn, nodes, places: at, width, height };
}

// What is drawn now: everything, or the selected variable with its neighbours.
function useView() {
  graph.whole ??= buildGraph();
  Object.assign(graph, graph.near ? buildNeighbourhood(chosen.variable) : graph.whole);
  byId("canvas").replaceChildren(graph.svg);
  fitGraph();
}

const pairOf = (edge) => `${edge.cause},${edge.effect}`;

// Likely edges leave and enter a box at separate points, in the order of their other ends.
function ports(end, other, at, place) {
  const near = new Map();
  for (const edge of content.picture.edges) {
    if (edge.probability < LIKELY || at[edge.effect][0] <= at[edge.cause][0]) continue;
    const via = edge.via.length ? place(edge.via.at(end === "cause" ? 0 : -1)) : at[edge[other]];
    const here = near.get(edge[end]) ?? near.set(edge[end], new Map()).get(edge[end]);
    here.set(pairOf(edge), via[1]);
  }
  const found = new Map();
  for (const here of near.values()) {
    const sorted = [...here].sort((a, b) => a[1] - b[1]);
    const step = Math.min(2 * APART, PORTS / Math.max(1, sorted.length - 1));
    sorted.forEach(([pair], k) => found.set(pair, (k - (sorted.length - 1) / 2) * step));
  }
  return found;
}

function drawNode(name, k, [x, y], width) {
  const node = makeSvg("g", {
    class: "node", role: "button", tabindex: k === chosen.variable ? 0 : -1, "aria-pressed": "false",
    "data-variable": k, transform: `translate(${x} ${y})` },
  makeSvg("rect", { x: -width / 2, y: -NODE_HEIGHT / 2, width, height: NODE_HEIGHT, rx: 9 }),
  makeSvg("text"));
  node.lastChild.textContent = shortName(name);
  node.addEventListener("click", () => choose(k));
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") choose(k);
    else if (event.key.startsWith("Arrow")) focusNeighbour(k, event.key);
    else return;
    event.preventDefault();
  });
  tooltip(node, () => describeVariable(k));
  return node;
}

function describeVariable(k) {
  const listed = MOMENTS.map((moment) => {
    const parents = parentsOf(k, moment).filter((edge) => edge.probability >= graph.threshold);
    const causes = parents.map((edge) => `${names[edge.cause]} ${share(edge.probability)}`).join(", ");
    return `${WORDS[moment]} moved by ${causes || "nothing shown"}`;
  });
  return `${names[k]}: ${listed.join("; ")}`;
}

function parentsOf(k, moment) {
  return content.picture.edges.filter((edge) => edge.effect === k && edge.moment === moment)
    .sort((a, b) => b.probability - a.probability);
}

// The nearest variable in the direction of an arrow key.
function focusNeighbour(k, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null, least = Infinity;
  graph.places.forEach(([x, y], other) => {
    const across = x - graph.places[k][0], down = y - graph.places[k][1];
    const along = across * dx + down * dy;
    if (other === k || along <= 1) return;
    const distance = along + 2 * Math.abs(across * dy + down * dx);
    if (distance < least) [best, least] = [other, distance];
  });
  if (best === null) return;
  graph.nodes[k].setAttribute("tabindex", -1);
  graph.nodes[best].setAttribute("tabindex", 0);
  graph.nodes[best].focus();
}

function drawEdge(edge, at, widths, via, shift, ends) {
  const [start, end] = [at[edge.cause], at[edge.effect]];
  const forwards = end[0] > start[0] + 1;
  const route = forwards
    ? layeredRoute(start, end, via, widths[edge.cause], widths[edge.effect], shift, ends)
    : bowedRoute(start, end, widths[edge.cause], widths[edge.effect], shift);
  const line = makeSvg("path", { class: `line ${edge.moment}`, d: route.path, "stroke-width": (1 + 3 * edge.probability).toFixed(2) });
  const degrees = Math.atan2(route.direction[1], route.direction[0]) * 180 / Math.PI;
  const head = makeSvg("path", { class: `head ${edge.moment}`, d: `M0 0 ${-HEAD} ${-HEAD / 2} ${-HEAD} ${HEAD / 2}Z`,
    transform: `translate(${route.tip[0]} ${route.tip[1]}) rotate(${degrees})` });
  const label = makeSvg("text");
  label.textContent = `${edge.moment === "mean" ? "μ" : "σ"} ${share(edge.probability)}`;
  const group = makeSvg("g", { class: `edge ${edge.moment}`, "data-probability": edge.probability },
    makeSvg("path", { class: "reach", d: route.path }), line, head, label);
  tooltip(group, () => `${names[edge.cause]} → ${names[edge.effect]}, ${WORDS[edge.moment]}: probability ${share(edge.probability)} ± ${edge.standard_error.toFixed(3)}${edge.plain === null ? "" : `, ${beside(edge)}`}${edge.consensus ? ", in the consensus" : ""}`);
  return group;
}

// Horizontal where it passes a layer, so that no edge runs through a variable's box.
function layeredRoute([x0, y0], [x1, y1], via, width0, width1, shift, [leaving, entering]) {
  const tip = [x1 - width1 / 2 - 2, y1 + shift + entering];
  const points = [[x0 + width0 / 2, y0 + shift + leaving], ...via.map(([x, y]) => [x, y + shift]), [tip[0] - HEAD, tip[1]]];
  let path = `M${points[0]}`;
  for (let k = 1; k < points.length; k += 1) {
    const [[xa, ya], [xb, yb]] = [points[k - 1], points[k]];
    const pull = Math.max(30, (xb - xa) / 2);
    path += `C${xa + pull} ${ya} ${xb - pull} ${yb} ${xb} ${yb}`;
  }
  return { path, tip, direction: [1, 0] };
}

// Against the order of the layout, or within a layer: a bow beside the straight line.
function bowedRoute([x0, y0], [x1, y1], width0, width1, shift) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const bow = 34 + length * 0.08 + 2 * shift;
  const middle = [(x0 + x1) / 2 + bow * (y0 - y1) / length, (y0 + y1) / 2 + bow * (x1 - x0) / length];
  const from = leaveBox([x0, y0], middle, width0);
  const tip = leaveBox([x1, y1], middle, width1 + 4);
  const reach = Math.hypot(tip[0] - middle[0], tip[1] - middle[1]);
  const direction = [(tip[0] - middle[0]) / reach, (tip[1] - middle[1]) / reach];
  const end = [tip[0] - HEAD * direction[0], tip[1] - HEAD * direction[1]];
  return { path: `M${from}Q${middle} ${end}`, tip, direction };
}

function leaveBox([x, y], [tx, ty], width) {
  const [dx, dy] = [tx - x, ty - y];
  const scale = Math.min(width / 2 / Math.max(Math.abs(dx), 1e-6), (NODE_HEIGHT / 2 + 1) / Math.max(Math.abs(dy), 1e-6));
  return [x + dx * scale, y + dy * scale];
}

function tooltip(element, text) {
  const tip = byId("tooltip");
  const place = (event) => {
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
  };
  element.addEventListener("pointerenter", (event) => { tip.textContent = text(); tip.hidden = false; place(event); });
  element.addEventListener("pointermove", place);
  element.addEventListener("pointerleave", () => { tip.hidden = true; });
}

function isVisible(edge) {
  return edge.probability >= graph.threshold && (graph.moment === "both" || graph.moment === edge.moment);
}

function showGraph() {
  const near = new Set([chosen.variable]);
  const counts = { mean: 0, variance: 0 };
  for (const edge of graph.edges) {
    const visible = isVisible(edge);
    const touches = edge.cause === chosen.variable || edge.effect === chosen.variable;
    if (visible) counts[edge.moment] += 1;
    if (visible && touches) near.add(edge.cause).add(edge.effect);
    edge.element.classList.toggle("hidden", !visible);
    edge.element.classList.toggle("dimmed", graph.focused && !touches);
  }
  placeLabels();
  graph.nodes.forEach((node, k) => {
    node.setAttribute("aria-pressed", String(k === chosen.variable));
    node.setAttribute("aria-label", describeVariable(k));
    node.setAttribute("tabindex", k === chosen.variable ? 0 : -1);
    node.classList.toggle("dimmed", graph.focused && !near.has(k));
  });
  byId("threshold-value").textContent = graph.threshold.toFixed(2);
  byId("count").textContent = `${counts.mean} mean and ${counts.variance} variance edges shown${graph.near ? ` around ${names[chosen.variable]}` : ""}`;
  if (document.activeElement !== byId("most")) byId("most").value = ranked().filter((p) => p >= graph.threshold).length;
  byId("choose").value = chosen.variable;
}

// Each label goes where along its edge it overlaps least; more probable edges choose first.
function placeLabels() {
  const taken = graph.places.map(([x, y]) => ({ x, y, width: 90, height: NODE_HEIGHT }));
  const [width, height] = [44, 13];
  const overlap = (box, x, y) => Math.max(0, (box.width + width) / 2 - Math.abs(box.x - x)) * Math.max(0, (box.height + height) / 2 - Math.abs(box.y - y));
  const shown = byId("labels").checked;
  for (const edge of [...graph.edges].reverse()) {
    const visible = shown && isVisible(edge);
    edge.label.style.display = visible ? "" : "none";
    if (!visible) continue;
    const length = edge.line.getTotalLength();
    const side = edge.moment === "mean" ? 11 : -11;
    let best = null, least = Infinity;
    for (const part of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
      const on = edge.line.getPointAtLength(part * length), next = edge.line.getPointAtLength(part * length + 1);
      const [x, y] = [on.x + 1.4 * side * (next.y - on.y), on.y - side * (next.x - on.x)];
      const covered = taken.reduce((sum, box) => sum + overlap(box, x, y), 0);
      if (covered < least) [best, least] = [{ x, y, width, height }, covered];
      if (least === 0) break;
    }
    taken.push(best);
    edge.label.setAttribute("x", best.x);
    edge.label.setAttribute("y", best.y);
  }
}

function zoomTo(scale) {
  graph.zoom = Math.min(3, Math.max(0.2, scale));
  graph.svg.setAttribute("width", graph.width * graph.zoom);
  graph.svg.setAttribute("height", graph.height * graph.zoom);
}

function fitGraph() {
  const room = byId("canvas").clientWidth - 4;
  // A small screen scrolls sideways rather than make names too small to read.
  const least = room < 600 ? 0.75 : 0.45;
  zoomTo(Math.min(1.3, Math.max(least, Math.min(room / graph.width, 700 / graph.height))));
}

// Probabilities of the edges of the chosen graph, the largest first.
const ranked = () => content.picture.edges.filter((edge) => graph.moment === "both" || edge.moment === graph.moment).map((edge) => edge.probability).sort((a, b) => b - a);

// The threshold that leaves the most probable edges, at most as many as asked for.
function keepMost(most) {
  const all = ranked();
  if (most >= all.length) setThreshold(Number(byId("threshold").min));
  else setThreshold(most < 1 ? 1 : all[most] < all[most - 1] ? all[most - 1] : Math.min(1, all.filter((p) => p > all[most]).at(-1) ?? 1));
}

function setThreshold(threshold) {
  graph.threshold = threshold;
  byId("threshold").value = threshold;
  byId("threshold").dispatchEvent(new Event("change"));
  if (graph.near) useView();
  showGraph();
}

function startGraph() {
  useView();
  byId("labels").checked = content.picture.edges.filter((edge) => edge.probability >= 0.5).length <= 24;
  byId("threshold").addEventListener("input", (event) => setThreshold(Number(event.target.value)));
  byId("most").addEventListener("input", (event) => keepMost(Number(event.target.value)));
  for (const radio of document.querySelectorAll("input[name=view]")) {
    radio.addEventListener("change", () => { graph.near = radio.value === "near"; useView(); showGraph(); });
  }
  byId("labels").addEventListener("change", showGraph);
  byId("choose").addEventListener("change", (event) => choose(Number(event.target.value)));
  for (const radio of document.querySelectorAll("input[name=moment]")) {
    radio.addEventListener("change", () => { graph.moment = radio.value; if (graph.near) useView(); showGraph(); });
  }
  byId("smaller").addEventListener("click", () => zoomTo(graph.zoom / 1.25));
  byId("larger").addEventListener("click", () => zoomTo(graph.zoom * 1.25));
  byId("fit").addEventListener("click", fitGraph);
  byId("graph-controls").addEventListener("submit", (event) => event.preventDefault());
  // Only a choice made by hand dims the rest: the page opens with the whole picture.
  chosen.listeners.push(() => { graph.focused = true; if (graph.near) { const held = byId("canvas").contains(document.activeElement); useView(); showGraph(); if (held) graph.nodes[chosen.variable].focus(); } else showGraph(); });
  byId("canvas").addEventListener("click", (event) => {
    if (event.target === graph.svg || event.target === byId("canvas")) { graph.focused = false; showGraph(); }
  });
  // Nobody can read more at once: the page opens with the neighbours of one variable.
  if (ranked().filter((p) => p >= graph.threshold).length > MOST_EDGES) {
    document.querySelector("input[name=view][value=near]").checked = graph.near = true;
    keepMost(MOST_EDGES);
  }
  showGraph();
}
