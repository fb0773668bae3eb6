// One variable with its causes to the left and its effects to the right, for graphs of many edges.
function buildNeighbourhood(k) {
  const edges = content.picture.edges.filter((edge) => (edge.cause === k || edge.effect === k)
    && edge.probability >= graph.threshold && (graph.moment === "both" || graph.moment === edge.moment));
  // Who may be both stands where it is more probable.
  const strength = new Map();
  for (const edge of edges) {
    const [other, side] = edge.effect === k ? [edge.cause, "causes"] : [edge.effect, "effects"];
    const before = strength.get(other);
    if (!before || before.probability < edge.probability) strength.set(other, { side, probability: edge.probability });
  }
  const sides = { causes: [], effects: [] };
  for (const [other, { side }] of [...strength].sort((a, b) => b[1].probability - a[1].probability)) sides[side].push(other);
  const widths = names.map((name) => Math.max(64, 8.6 * shortName(name).length + 26));
  const widest = Math.max(widths[k], ...[...strength.keys()].map((other) => widths[other]));
  const rows = Math.max(1, sides.causes.length, sides.effects.length);
  const column = (n) => MARGIN + widest / 2 + n * (widest + 150);
  const row = (place, among) => MARGIN + NODE_HEIGHT / 2 + (place + (rows - among) / 2) * 0.8 * ROW;
  const at = [];
  at[k] = [column(1), row(0, 1)];
  sides.causes.forEach((other, place) => { at[other] = [column(0), row(place, sides.causes.length)]; });
  sides.effects.forEach((other, place) => { at[other] = [column(2), row(place, sides.effects.length)]; });
  const size = { width: column(2) + widest / 2 + MARGIN, height: row(rows - 1, rows) + NODE_HEIGHT / 2 + MARGIN };
  // Edges enter and leave the box in the middle at separate points.
  const port = (other, among) => (among.length > 1 ? PORTS * (among.indexOf(other) / (among.length - 1) - 0.5) : 0);
  const ends = (edge) => [edge.cause === k ? port(edge.effect, sides.effects) : 0, edge.effect === k ? port(edge.cause, sides.causes) : 0];
  return assemble(edges, at, widths, size, () => [], ends, `${names[k]} with its causes and effects`);
}
