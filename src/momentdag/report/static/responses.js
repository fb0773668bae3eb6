// Outcomes between computed settings: monotone cubics along one axis after the other, as when the
// page was written.
function unpackNumbers(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return Array.from(new Kind(bytes.buffer));
}

const one = (text) => unpackNumbers(text, Float64Array)[0];

// Slopes of the monotone cubic through (x, y), by Fritsch and Butland (1984).
function slopesOf(x, y) {
  const h = x.slice(1).map((b, k) => b - x[k]), d = h.map((width, k) => (y[k + 1] - y[k]) / width);
  if (d.length === 1) return [d[0], d[0]];
  const end = (h0, h1, d0, d1) => {
    const slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (Math.sign(slope) !== Math.sign(d0)) return 0;
    return Math.sign(d0) !== Math.sign(d1) && Math.abs(slope) > 3 * Math.abs(d0) ? 3 * d0 : slope;
  };
  const inner = d.slice(1).map((after, k) => {
    if (d[k] * after <= 0) return 0;
    const w1 = 2 * h[k + 1] + h[k], w2 = h[k + 1] + 2 * h[k];
    return (w1 + w2) / (w1 / d[k] + w2 / after);
  });
  return [end(h[0], h[1], d[0], d[1]), ...inner, end(h.at(-1), h.at(-2), d.at(-1), d.at(-2))];
}

function interpolate(x, y, at) {
  let k = 0;
  while (k < x.length - 2 && at > x[k + 1]) k += 1;
  const slopes = slopesOf(x, y), h = x[k + 1] - x[k];
  const t = (Math.min(Math.max(at, x[0]), x.at(-1)) - x[k]) / h;
  return y[k] * (1 + 2 * t) * (1 - t) ** 2 + slopes[k] * h * t * (1 - t) ** 2
    + y[k + 1] * t * t * (3 - 2 * t) + slopes[k + 1] * h * t * t * (t - 1);
}

// Rows of `size` numbers at crossed nodes, the first axis slowest; returns one row.
function interpolateRows(values, size, grids, at) {
  let rows = Array.from({ length: values.length / size }, (_, k) => values.slice(k * size, (k + 1) * size));
  for (const [k, x] of grids.entries()) {
    const after = rows.length / x.length;
    rows = Array.from({ length: after }, (_, j) => Array.from({ length: size }, (_, q) =>
      interpolate(x, x.map((_, i) => rows[i * after + j][q]), at[k])));
  }
  return rows[0];
}

const withMiddles = (x) => x.flatMap((value, k) => (k ? [(x[k - 1] + value) / 2, value] : [value]));

// One outcome with its tables, unpacked when first asked for.
function makeOutcome(packed, axes) {
  const centre = one(packed.centre), unit = one(packed.unit);
  const thresholds = unpackNumbers(packed.thresholds, Float64Array), K = thresholds.length;
  const unpacked = new Map();
  const table = (key) => {
    if (!unpacked.has(key)) {
      const found = key === "" ? packed.today : packed.tables[key];
      unpacked.set(key, { moments: unpackNumbers(found.moments, Float32Array), below: unpackNumbers(found.below, Uint16Array).map((p) => p / 65535) });
    }
    return unpacked.get(key);
  };
  const grids = (causes, fine) => causes.map((name) => {
    const axis = axes[name], nodes = causes.length > 1 ? axis.mapNodes : axis.nodes;
    return fine && causes.length > 1 && !axis.labels.length && nodes.length > 3 ? withMiddles(nodes) : nodes;
  });
  // P(Y <= y) from its values at the thresholds; `open` leaves y itself out.
  const share = (below, y, open) => {
    if (packed.has_levels) {
      const k = thresholds.filter((level) => (open ? level < y - 1e-9 * unit : level <= y + 1e-9 * unit)).length;
      return k ? below[k - 1] : 0;
    }
    return interpolate(thresholds, below, open ? y - packed.step : y);
  };
  return {
    ...packed, K, table, grids, causesOf: (key) => (key === "" ? [] : key.split("\t")),
    at(key, positions, limits) {
      const causes = this.causesOf(key), { moments, below } = table(key);
      const [mean, meanLow, meanHigh, ...logs] = interpolateRows(moments, 6, grids(causes, true), positions);
      const shown = {
        mean: [mean, meanLow, meanHigh].map((value) => centre + unit * value),
        sd: logs.map((value) => unit * Math.exp(value)), risk: null };
      const [low, high] = limits;
      if (K > 1 && (low !== null || high !== null)) {
        const found = interpolateRows(below, 3 * K, grids(causes, false), positions);
        const [mid, least, most] = [0, 1, 2].map((part) => found.slice(part * K, (part + 1) * K));
        const under = (values) => (low === null ? 0 : share(values, low, true));
        const over = (values) => (high === null ? 0 : 1 - share(values, high, false));
        const clip = (p) => Math.min(1, Math.max(0, p));
        shown.risk = [under(mid) + over(mid), under(least) + over(most), under(most) + over(least)].map(clip);
      }
      return shown;
    },
  };
}
