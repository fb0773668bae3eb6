// Plots of the residuals of one variable, selected in the section on criticism or in the graph.
function startCriticism() {
  if (!content.criticism) return;
  const figures = { quantiles: quantilePlot, transforms: transformPlot, location: locationPlot, residual: residualPlot };
  const elements = Object.keys(figures).map((name) => document.querySelector(`[data-plot=${name}]`));
  const redraw = () => { for (const element of elements) if (plots.drawn.get(element).there) drawNow(element); };
  const follow = (k) => {
    const parents = content.picture.edges.filter((edge) => edge.effect === k);
    byId("criticised").value = k;
    byId("against").value = parents.length ? parents.at(-1).cause : (k + 1) % names.length;
    redraw();
  };
  for (const element of elements) drawLazily(element, figures[element.dataset.plot]);
  byId("criticised").addEventListener("change", (event) => follow(Number(event.target.value)));
  byId("against").addEventListener("change", redraw);
  byId("criticism-controls").addEventListener("submit", (event) => event.preventDefault());
  chosen.listeners.push(follow);
  follow(chosen.variable);
}

const criticised = () => Number(byId("criticised").value);
const columnOf = (table, k) => table.map((row) => row[k]);

function quantilePlot() {
  const { normal, quantiles } = content.criticism;
  const ends = [normal[0], normal.at(-1)];
  const line = { x: ends, y: ends, type: "scatter", mode: "lines", line: { color: colour("soft"), width: 1 }, hoverinfo: "skip" };
  return { data: [line, dots(normal, quantiles[criticised()], "ink")], layout: { xaxis: axis("Gaussian quantile"), yaxis: axis(`residual of ${names[criticised()]}`) } };
}

function transformPlot() {
  const heights = content.criticism.bins[criticised()];
  const line = { type: "line", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: colour("ink"), dash: "dash", width: 1 } };
  const data = [{ type: "bar", x: heights.map((_, k) => (k + 0.5) / heights.length), y: heights, marker: { color: faded("soft", 0.6) }, hovertemplate: "%{y:.2f}<extra></extra>" }];
  return { data, layout: { xaxis: axis("probability transform", { range: [0, 1] }), yaxis: axis("density"), bargap: 0.04, shapes: [line] } };
}

function locationPlot() {
  const k = criticised();
  if (content.variables[k].form === "shares") return { data: [], layout: { annotations: [{ text: "a category has no fitted mean", showarrow: false }] } };
  const title = content.variables[k].form === "probability" ? `fitted ${content.variables[k].label}` : `fitted mean of ${names[k]}`;
  const sizes = columnOf(content.criticism.residuals, k).map((e) => Math.sqrt(Math.abs(e)));
  return { data: [dots(columnOf(content.criticism.fitted, k), sizes, "ink")], layout: { xaxis: axis(title), yaxis: axis("√|residual|") } };
}

// Levels of the other variable have their names, and dots at them are moved apart.
function residualPlot() {
  const other = Number(byId("against").value);
  const { levels, step } = content.variables[other];
  const ticks = levels.length && levels.length <= LABELLED ? levels.map((one) => one.level) : null;
  const seen = columnOf(content.criticism.values, other);
  const places = [...new Set(seen)].sort((a, b) => a - b);
  const at = ticks && places.length === ticks.length ? seen.map((value) => places.indexOf(value)) : seen;
  const named = at === seen ? null : ticks;
  const x = spreadOut(at, named ? 0.5 : 0.6 * (step ?? 0), 0.6180339887);
  return { data: [dots(x, columnOf(content.criticism.residuals, criticised()), "ink")], layout: { xaxis: columnAxis(other, named), yaxis: axis(`residual of ${names[criticised()]}`) } };
}
