// A variable against one of its parents: lines, or points and bars at the parent's levels.
const LABELLED = 12; // levels with their names on an axis

// An axis of a column; levels stand at whole numbers and have their names.
function columnAxis(k, ticks, more = {}) {
  const { kind, is_log } = content.variables[k];
  const title = kind === "time" ? `${names[k]} (days)` : `${is_log ? "log " : ""}${names[k]}`;
  if (!ticks) return axis(title, more);
  return axis(title, { tickvals: ticks.map((_, i) => i), ticktext: ticks.map(plotText), range: [-0.6, ticks.length - 0.4], ...more });
}

// Moves dots a little, so that equal ones can be told apart; always in the same way.
function spreadOut(values, width, turn) {
  return width ? values.map((value, i) => value + width * (((i + 1) * turn) % 1 - 0.5)) : values;
}

function rowDots(k, curve, y, axes = {}) {
  const across = curve.ticks ? 0.5 : 0.6 * (content.variables[curve.parent].step ?? 0);
  const along = 0.35 * (content.variables[k].step ?? 0) * (content.variables[k].form === "probability" ? 0.25 : 1);
  const x = spreadOut(curve.rows, across, 0.6180339887);
  const name = (value) => (curve.ticks ? plotText(curve.ticks[value]) : number(value));
  return dots(x, spreadOut(y, along, 0.7548776662), "soft", {
    ...axes, text: curve.rows.map((value, i) => `${name(value)}, ${number(y[i])}`), hovertemplate: "%{text}<extra></extra>" });
}

const errors = (curve, name) => ({
  type: "data", symmetric: false, color: colour(name), thickness: 2, width: 6,
  array: curve.high.map((high, i) => high - curve.middle[i]), arrayminus: curve.low.map((low, i) => curve.middle[i] - low) });

// A line with its band, or at levels a point with its interval; probabilities are bars there.
function estimates(curve, shown, name, { dash = "solid", bars = false, axes = {} } = {}) {
  if (!curve.ticks) return band(curve.grid, shown, name, dash, axes);
  const text = curve.ticks.map((tick, i) => `${plotText(tick)}: ${number(shown.middle[i])} (${number(shown.low[i])} to ${number(shown.high[i])})`);
  const shared = { x: curve.ticks.map((_, i) => i), y: shown.middle, text, hovertemplate: "%{text}<extra></extra>", ...axes };
  if (bars) return [{ ...shared, type: "bar", width: 0.6, textposition: "none", marker: { color: faded(name, 0.35), line: { color: colour(name), width: 1.5 } }, error_y: errors(shown, "ink") }];
  const symbol = dash === "dash" ? "square-open" : "circle";
  return [{ ...shared, type: "scatter", mode: "markers", marker: { size: 11, symbol, color: colour(name), line: { color: colour(name), width: 2.5 } }, error_y: errors(shown, name) }];
}

const stretch = (a, b) => [a - 0.06 * (b - a), b + 0.06 * (b - a)];
const rangeOf = (curve) => (curve.ticks ? {} : { range: stretch(curve.grid[0], curve.grid.at(-1)) });

function curvePlot(k, curve) {
  const { form, label } = content.variables[k];
  if (form === "shares") return sharesPlot(k, curve);
  if (form === "probability") return probabilityPlot(k, curve);
  const lower = { xaxis: "x", yaxis: "y2" };
  // A few far rows must not flatten the curve; a double click shows all.
  const top = 1.15 * Math.max(quantile(curve.deviation, 0.98), ...curve.sd.high);
  const [first, last] = curve.ticks ? [0, curve.ticks.length - 1] : [curve.grid[0], curve.grid.at(-1)];
  const inside = curve.adjusted.filter((_, i) => curve.rows[i] >= first && curve.rows[i] <= last);
  const low = Math.min(quantile(inside, 0.005), ...curve.mean.low), high = Math.max(quantile(inside, 0.995), ...curve.mean.high);
  return {
    data: [
      rowDots(k, curve, curve.adjusted), ...estimates(curve, curve.mean, "mean"),
      rowDots(k, curve, curve.deviation, lower), ...estimates(curve, curve.sd, "variance", { dash: "dash", axes: lower }),
    ],
    layout: {
      grid: { rows: 2, columns: 1 }, margin: { l: 60, r: 12, t: 6, b: 44 },
      xaxis: columnAxis(curve.parent, curve.ticks, { anchor: "y2", ...rangeOf(curve) }),
      yaxis: axis(label, { domain: [0.5, 1], range: stretch(low, high), color: colour("mean") }),
      yaxis2: axis("spread (sd)", { domain: [0, 0.42], range: [0, top], color: colour("variance") }),
    },
  };
}

// Bars stand behind the dots, which would not be seen otherwise.
function probabilityPlot(k, curve) {
  const shown = estimates(curve, curve.mean, "mean", { bars: true });
  const rows = rowDots(k, curve, curve.adjusted);
  return {
    data: curve.ticks ? [...shown, rows] : [rows, ...shown],
    layout: {
      xaxis: columnAxis(curve.parent, curve.ticks, rangeOf(curve)),
      yaxis: axis(content.variables[k].label, { range: [-0.1, 1.1], tickvals: [0, 0.25, 0.5, 0.75, 1], color: colour("mean") }),
    },
  };
}

// The probability of each level: a line with its band, or bars side by side; diamonds are the data.
function sharesPlot(k, curve) {
  const width = 0.8 / curve.shares.length;
  const data = curve.shares.flatMap((one, i) => {
    const paint = PALETTE[i % PALETTE.length];
    const shift = curve.ticks ? (i - (curve.shares.length - 1) / 2) * width : 0;
    const name = plotText(one.level);
    const seen = {
      x: one.seen_at.map((x) => x + shift), y: one.seen, type: "scatter", mode: "markers", name, showlegend: false, legendgroup: one.level,
      marker: { symbol: "diamond", size: 7, color: paint, line: { color: colour("card"), width: 1 } }, hovertemplate: `${name} in the data: %{y:.2f}<extra></extra>` };
    const shared = { name, legendgroup: one.level, hovertemplate: `${name}: %{y:.2f}<extra></extra>` };
    if (curve.ticks) {
      return [{ ...shared, type: "bar", x: curve.ticks.map((_, t) => t + shift), y: one.band.middle, width, marker: { color: `${paint}99`, line: { color: paint, width: 1 } }, error_y: { ...errors(one.band, "ink"), thickness: 1.5, width: 3 } }, seen];
    }
    const edge = { x: curve.grid, type: "scatter", mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup: one.level };
    return [
      { ...edge, y: one.band.low }, { ...edge, y: one.band.high, fill: "tonexty", fillcolor: `${paint}30` },
      { ...shared, x: curve.grid, y: one.band.middle, type: "scatter", mode: "lines", line: { color: paint, width: 2.5, dash: DASHES[i % DASHES.length] } }, seen];
  });
  return {
    data,
    layout: {
      xaxis: columnAxis(curve.parent, curve.ticks, rangeOf(curve)),
      yaxis: axis(content.variables[k].label, { range: [-0.02, 1.02] }),
      showlegend: true, legend: { orientation: "h", y: 1.12 }, margin: { l: 60, r: 12, t: 24, b: 44 }, barmode: "overlay",
    },
  };
}

// What is to be seen in the curves of a variable, in words.
function curveHint(about) {
  const levels = about.curves.some((curve) => curve.ticks), lines = about.curves.some((curve) => !curve.ticks);
  const points = about.form === "mean" ? "Points" : "Bars";
  const what = [lines ? "Lines" : null, levels ? (lines ? points.toLowerCase() : points) : null].filter((one) => one).join(lines && levels ? " and " : "");
  const intervals = lines && levels ? "bands and intervals" : lines ? "bands" : "intervals";
  const head = `${what}: posterior means with 90 % ${intervals} that cover the uncertainty of graphs and functions, other parents at their medians (categories at their most frequent level).`;
  if (about.form === "shares") {
    const most = about.curves[0].shares.length;
    const left = about.levels.length > most ? ` The ${most} most frequent of ${about.levels.length} levels are shown.` : "";
    return `${head} Diamonds: shares in the data as they are, in groups of rows.${left}`;
  }
  if (about.form === "probability") return `${head} Dots: rows of the data as they are, moved apart a little.`;
  if (about.step !== null) return `${head} Dots: rows of the data as they are, moved apart a little; below, the size of their deviation from the mean.`;
  return `${head} Dots: rows of the data, adjusted to these medians; below, the size of their deviation from the mean.`;
}
