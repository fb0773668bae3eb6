// Mean and spread over two causes at once, side by side; a star marks the recommended setting.
const SCALES = {
  light: { mean: ["#fff5f0", "#f9bfae", "#df6a4e"], sd: ["#f1f6fc", "#aacdee", "#4f94d4"] },
  dark: { mean: ["#3a1d17", "#8c3b2a", "#e2735a"], sd: ["#14263b", "#2c5c8d", "#62a5e4"] } };
const FINE = 25;

function startMaps() {
  byId("map-controls").addEventListener("submit", (event) => event.preventDefault());
  byId("pair").addEventListener("change", drawMaps);
  for (const what of ["mean", "sd"]) drawLazily(byId(`${what}-map`), () => mapPlot(what), (element) => element.on("plotly_click", moveBoth));
}

function showPairs() {
  const keys = Object.keys(whatif.outcome.tables).filter((key) => key.includes("\t"));
  byId("pair").replaceChildren(...keys.map((key) => make("option", { value: key }, whatif.outcome.causesOf(key).join(" and "))));
  if (whatif.set.size === 2) followPair();
  drawMaps();
}

function followPair() {
  const key = keyOf([...whatif.set.keys()]);
  if (key === null || byId("pair").value === key) return;
  byId("pair").value = key;
  drawMaps();
}

function drawMaps() {
  if (!byId("pair").value) return;
  const robust = whatif.outcome.robust[byId("pair").value];
  byId("map-note").textContent = `${robust ? `The star is the setting with the least variance that keeps the mean within a tenth of an sd: ${Math.round(100 * robust.variance_ratio)} % of today's variance. ` : "No setting of these two steadies the outcome and surely keeps its mean. "}The circle is the setting of the sliders. Click a map to move both.`;
  for (const what of ["mean", "sd"]) {
    const element = byId(`${what}-map`);
    if (plots.drawn.get(element)?.there) drawNow(element);
  }
}

// The circle follows the sliders, once a frame.
function markMaps() {
  byId("maps").hidden = byId("pair").options.length === 0 || (whatif.outcome.is_refused && !whatif.forced);
  const shown = [byId("pair").value, ...whatif.outcome.causesOf(byId("pair").value).map((name) => whatif.set.get(name))].join("\t");
  if (shown === whatif.marked) return;
  whatif.marked = shown;
  requestAnimationFrame(drawMaps);
}

const places = (axis) => (axis.labels.length ? axis.labels.map((_, k) => k)
  : Array.from({ length: FINE }, (_, k) => axis.mapNodes[0] + (axis.mapNodes.at(-1) - axis.mapNodes[0]) * k / (FINE - 1)));
const inFile = (axis, position) => (axis.is_log && !axis.labels.length ? Math.exp(position) : position);

function mapPlot(what) {
  const { outcome, axes } = whatif;
  const key = byId("pair").value;
  const [first, second] = outcome.causesOf(key);
  const [across, up] = [axes[first], axes[second]];
  const [x, y] = [places(across), places(up)];
  outcome.surfaces ??= new Map();
  const stored = `${key} ${what}`;
  if (!outcome.surfaces.has(stored)) outcome.surfaces.set(stored, y.map((b) => x.map((a) => outcome.at(key, [a, b], [null, null])[what][0])));
  const z = outcome.surfaces.get(stored);
  const dark = parseInt(colour("paper").slice(1, 3), 16) < 128;
  const colours = SCALES[dark ? "dark" : "light"][what].map((tone, k) => [k / 2, tone]);
  const common = { x: x.map((a) => inFile(across, a)), y: y.map((b) => inFile(up, b)), z, colorscale: colours,
    colorbar: { thickness: 10, outlinewidth: 0 }, hovertemplate: "%{z:.4g}<extra></extra>" };
  const named = across.labels.length || up.labels.length;
  const trace = named ? { ...common, type: "heatmap", xgap: across.labels.length ? 2 : 0, ygap: up.labels.length ? 2 : 0 }
    : { ...common, type: "contour", ncontours: 12, contours: { showlabels: true, labelfont: { size: 11, color: colour("ink") } }, line: { width: 1, color: faded("ink", 0.4) } };
  const marks = [];
  const robust = outcome.robust[key];
  if (robust) marks.push(mark(inFile(across, robust.positions[0]), inFile(up, robust.positions[1]), "star", 16, "#ffd33d"));
  if (whatif.set.has(first) && whatif.set.has(second)) {
    marks.push(mark(...[[first, across], [second, up]].map(([name, axis]) => inFile(axis, axis.position(whatif.set.get(name)))), "circle-open", 14, colour("ink")));
  }
  return { data: [trace, ...marks], layout: { xaxis: mapAxis(first, across), yaxis: mapAxis(second, up), margin: { l: 60, r: 10, t: 6, b: 44 } } };
}

const mark = (x, y, symbol, size, fill) => ({ x: [x], y: [y], type: "scatter", mode: "markers", hoverinfo: "skip",
  marker: { symbol, size, color: fill, line: { width: symbol === "star" ? 1.5 : 3, color: "#1b1f24" } } });

function mapAxis(name, axis) {
  if (!axis.labels.length) return { title: { text: plotText(name), standoff: 8 }, ticks: "outside", automargin: true, type: axis.is_log ? "log" : "linear", constrain: "domain" };
  return { title: { text: plotText(name), standoff: 8 }, tickvals: axis.labels.map((_, k) => k), ticktext: axis.labels.map(plotText), automargin: true };
}

function moveBoth(event) {
  const [first, second] = whatif.outcome.causesOf(byId("pair").value);
  const at = [event.points[0].x, event.points[0].y];
  whatif.set.clear();
  [first, second].forEach((name, k) => {
    const axis = whatif.axes[name];
    whatif.set.set(name, axis.nearest(axis.is_log && !axis.labels.length ? Math.log(at[k]) : at[k]));
  });
  drawCauses();
  answerWhatIf();
}
