// Tables that sort by their headings, and the filter of the table of edges.
function startTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => sortTable(table, column));
    });
  }
  byId("edge-filter").addEventListener("input", filterEdges);
  byId("edge-filter").addEventListener("submit", (event) => event.preventDefault());
  filterEdges();
}

function cellValue(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
}

// Numbers in descending order, text in ascending order; a second click reverses it.
function sortTable(table, column) {
  const headings = [...table.querySelectorAll("thead th")];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  if (rows.length === 0) return;
  const numeric = typeof cellValue(rows[0], column) === "number";
  const before = headings[column].getAttribute("aria-sort");
  const first = numeric ? "descending" : "ascending";
  const order = before === first ? (numeric ? "ascending" : "descending") : first;
  const sign = order === "ascending" ? 1 : -1;
  const compare = numeric ? (a, b) => a - b : (a, b) => a.localeCompare(b, undefined, { numeric: true });
  rows.sort((a, b) => sign * compare(cellValue(a, column), cellValue(b, column)));
  headings.forEach((heading, k) => heading.setAttribute("aria-sort", k === column ? order : "none"));
  body.append(...rows);
}

function filterEdges() {
  const text = byId("filter-name").value.trim().toLowerCase();
  const moment = byId("filter-moment").value;
  const least = Number(byId("filter-least").value);
  let shown = 0;
  const rows = byId("edge-table").tBodies[0].rows;
  for (const row of rows) {
    const { mean, variance, only, unsure } = row.dataset;
    const probability = { either: Math.max(mean, variance), mean, variance, only, unsure }[moment];
    const named = [row.cells[0], row.cells[1]].some((cell) => cell.textContent.toLowerCase().includes(text));
    row.hidden = !(named && Number(probability) >= least);
    shown += row.hidden ? 0 : 1;
  }
  byId("edge-count").textContent = `${shown} of ${rows.length} shown`;
}
