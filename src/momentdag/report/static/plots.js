// Plots by plotly.js, which is unpacked once, when the first plot comes into view.
const PRINT_WIDTH = 310;
const plots = { drawn: new Map(), ready: null, width: undefined, theme: undefined };

function loadPlotly() {
  plots.ready ??= (async () => {
    const packed = Uint8Array.from(atob(byId("plotly").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  })();
  return plots.ready;
}

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    nearby.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "400px" });

// `figure` returns {data, layout}; it is called again when the theme changes. `started` is called
// once, when the plot is there.
function drawLazily(element, figure, started = null) {
  plots.drawn.set(element, { figure, started, there: false });
  nearby.observe(element);
}

async function draw(element) {
  await loadPlotly();
  drawNow(element);
}

function drawNow(element) {
  const plot = plots.drawn.get(element);
  if (!plot || !element.isConnected) return;
  const { data, layout } = plot.figure();
  const isFirst = !plot.there;
  plot.there = true;
  Plotly.react(element, data, { ...baseLayout(), ...layout, width: plots.width }, { displaylogo: false, responsive: true, displayModeBar: false });
  if (isFirst) plot.started?.(element);
}

function redrawPlots() {
  for (const [element, plot] of plots.drawn) {
    if (!element.isConnected) plots.drawn.delete(element);
    else if (plot.there) drawNow(element);
  }
}

function startPlots() {
  const figures = { trace: tracePlot, agreement: agreementPlot, screening: screeningPlot };
  for (const element of document.querySelectorAll("[data-plot]")) {
    const figure = figures[element.dataset.plot];
    if (figure) drawLazily(element, figure);
  }
  themeListeners.push(redrawPlots);
  addEventListener("beforeprint", () => preparePrint(true));
  addEventListener("afterprint", () => preparePrint(false));
  (window.requestIdleCallback ?? setTimeout)(loadPlotly, { timeout: 4000 });
}

// For print every plot is drawn, in the light theme, half a page wide.
function preparePrint(printing) {
  const root = document.documentElement;
  if (printing) [plots.width, plots.theme, root.dataset.theme] = [PRINT_WIDTH, root.dataset.theme, "light"];
  else {
    plots.width = undefined;
    if (plots.theme) root.dataset.theme = plots.theme; else delete root.dataset.theme;
  }
  if (window.Plotly) for (const element of plots.drawn.keys()) drawNow(element);
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function faded(name, alpha) {
  const value = parseInt(colour(name).slice(1), 16);
  return `rgba(${value >> 16},${(value >> 8) & 255},${value & 255},${alpha})`;
}

// plotly interprets some HTML tags in text; a column's name is not HTML.
const plotText = (name) => name.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function baseLayout() {
  return {
    margin: { l: 56, r: 12, t: 8, b: 44 }, showlegend: false, hovermode: "closest", dragmode: "zoom",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("ink") },
    hoverlabel: { bgcolor: colour("ink"), bordercolor: colour("ink"), font: { color: colour("paper") } },
  };
}

function axis(title, more = {}) {
  return { title: { text: plotText(title), standoff: 8 }, gridcolor: colour("rule"), linecolor: colour("soft"), zeroline: false, ticks: "outside", tickcolor: colour("rule"), automargin: true, ...more };
}

const dots = (x, y, name, more = {}) => ({
  x, y, mode: "markers", type: "scatter", marker: { size: 4, color: faded(name, 0.45) }, hovertemplate: "%{x:.3g}, %{y:.3g}<extra></extra>", ...more });

function band(x, curve, name, dash, axes) {
  const shared = { x, type: "scatter", mode: "lines", ...axes };
  return [
    { ...shared, y: curve.low, line: { width: 0 }, hoverinfo: "skip" },
    { ...shared, y: curve.high, line: { width: 0 }, fill: "tonexty", fillcolor: faded(name, 0.22), hoverinfo: "skip" },
    { ...shared, y: curve.middle, line: { color: colour(name), width: 2.5, dash }, hovertemplate: "%{x:.3g}: %{y:.3g}<extra></extra>" },
  ];
}

function quantile(values, p) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0;
}

const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999"];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
const SYMBOLS = ["circle", "square", "diamond", "cross", "triangle-up", "x", "star"];

function tracePlot() {
  const data = content.convergence.traces.map((trace, k) => ({
    x: trace.steps, y: trace.log_posterior, type: "scatter", mode: "lines", name: `chain ${trace.chain}`,
    line: { width: 1, color: PALETTE[k % PALETTE.length], dash: DASHES[k % DASHES.length] } }));
  const empty = data.every((trace) => trace.x.length === 0);
  return { data, layout: { xaxis: axis("draw"), yaxis: axis("log posterior", { exponentformat: "none", separatethousands: true }), showlegend: data.length > 1 && !empty, legend: { orientation: "h", y: 1.15 },
    annotations: empty ? [{ text: "this engine reports no log posterior", showarrow: false }] : [] } };
}

function agreementPlot() {
  const { probabilities, labels, traces, n_worlds } = content.convergence;
  const [part, all] = n_worlds ? ["half of the worlds", "all worlds"] : ["chain", "all chains"];
  const data = traces.map((trace, k) => ({
    x: probabilities, y: trace.edges, text: labels.map(plotText), type: "scatter", mode: "markers", name: n_worlds ? ["first half", "second half"][k] : `chain ${trace.chain}`,
    marker: { size: 7, opacity: 0.7, color: PALETTE[k % PALETTE.length], symbol: SYMBOLS[k % SYMBOLS.length] },
    hovertemplate: `%{text}<br>all %{x:.2f}, this ${part} %{y:.2f}<extra></extra>` }));
  const line = { type: "line", x0: 0, y0: 0, x1: 1, y1: 1, line: { color: colour("soft"), width: 1 } };
  return { data, layout: { xaxis: axis(`probability in ${all}`, { range: [-0.03, 1.03] }), yaxis: axis(`in this ${part}`, { range: [-0.03, 1.03] }), shapes: [line], showlegend: data.length > 1, legend: { orientation: "h", y: 1.15 } } };
}

function screeningPlot() {
  const rows = content.screening.rows.filter((row) => row.p_adjusted !== null);
  const strength = (p) => Math.min(12, -Math.log10(Math.max(p, 1e-300)));
  const data = [{
    type: "bar", orientation: "h", y: rows.map((row) => plotText(row.variable)), x: rows.map((row) => strength(row.p_adjusted)),
    marker: { color: rows.map((row) => (row.heteroscedastic ? colour("variance") : faded("soft", 0.5))), pattern: { shape: rows.map((row) => (row.heteroscedastic ? "/" : "")) } },
    textposition: "outside", cliponaxis: false, textfont: { color: colour("ink") },
    text: rows.map((row) => (row.heteroscedastic ? plotText(`with ${row.moves_with}`) : "")),
    customdata: rows.map((row) => row.p_adjusted), hovertemplate: "%{y}: p = %{customdata:.2g} %{text}<extra></extra>" }];
  const at = strength(content.screening.level);
  const line = { type: "line", x0: at, x1: at, y0: 0, y1: 1, yref: "paper", line: { color: colour("ink"), dash: "dash", width: 1 } };
  return { data, layout: { xaxis: axis("−log10 of the adjusted p-value, up to 12", { range: [0, 18], tickvals: [0, 2, 4, 6, 8, 10, 12] }), yaxis: axis("", { autorange: "reversed" }), shapes: [line], margin: { l: 80, r: 12, t: 8, b: 44 } } };
}
