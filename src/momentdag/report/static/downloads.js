// CSV of every table, SVG and PNG of every picture; nothing leaves the computer.
function startDownloads() {
  offerDownloads(document.querySelector("main"));
  const graphs = make("span", { class: "downloads" }, ...["SVG", "PNG"].map((kind) =>
    make("button", { type: "button", "aria-label": `Download the graphs as ${kind}`, onclick: () => saveGraph(kind) }, kind)));
  document.querySelector(".legend").append(graphs);
}

// Adds buttons to the tables and figures under `root` that have none.
function offerDownloads(root) {
  for (const table of root.querySelectorAll("table")) {
    const box = table.closest(".scroll") ?? table;
    if (box.nextElementSibling?.classList.contains("downloads")) continue;
    const name = table.id || `${table.closest("section").id}-${[...table.closest("section").querySelectorAll("table")].indexOf(table) + 1}`;
    box.after(make("p", { class: "downloads" }, make("button", { type: "button", "aria-label": `Download the table ${name} as CSV`, onclick: () => save(`${name}.csv`, "text/csv", `\ufeff${csvOf(table)}`) }, "CSV")));
  }
  for (const plot of root.querySelectorAll("figure .plot")) {
    const figure = plot.closest("figure");
    if (figure.querySelector(".downloads")) continue;
    const name = nameOf(plot);
    figure.append(make("p", { class: "downloads" }, ...["SVG", "PNG"].map((kind) =>
      make("button", { type: "button", "aria-label": `Download ${name} as ${kind}`, onclick: () => savePlot(plot, kind) }, kind))));
  }
}

const slug = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").toLowerCase().slice(0, 60) || "picture";
const nameOf = (plot) => slug(plot.dataset.plot || plot.id || `${names[chosen.variable]} ${plot.closest("figure").querySelector("h4")?.textContent ?? ""}`);

function save(name, type, bytes) {
  const link = make("a", { href: URL.createObjectURL(new Blob([bytes], { type })), download: `${slug(document.title)}-${name}` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Numbers as exactly as the page has them, intervals and the model's own probability in columns.
function csvOf(table) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.dataset.label ?? head.textContent.trim());
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const columns = (rows[0] ? [...rows[0].cells] : []).flatMap((_, k) => {
    const cells = rows.map((row) => row.cells[k]);
    const has = (what) => cells.some((cell) => what(cell) !== undefined);
    const parts = [[heads[k] ?? "", valueOf]];
    for (const [word, key] of [["low", "low"], ["high", "high"]]) if (has((cell) => cell?.dataset[key])) parts.push([`${heads[k]} ${word}`, (cell) => cell?.dataset[key] ?? ""]);
    const model = (cell) => cell?.querySelector(".beside")?.textContent.replace("model ", "");
    if (has(model)) parts.push([`${heads[k]} (model)`, (cell) => model(cell) ?? ""]);
    return parts.map(([head, value]) => [head, ...cells.map(value)]);
  });
  const lines = Array.from({ length: rows.length + 1 }, (_, k) => columns.map((column) => quoted(column[k])).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function valueOf(cell) {
  if (!cell) return "";
  const text = cell.cloneNode(true);
  for (const extra of text.querySelectorAll(".what, .beside")) extra.remove();
  const shown = text.textContent.trim().replace(/\s+/g, " ");
  const exact = cell.dataset.value;
  if (shown === "-" || shown === "–") return "";
  return exact !== undefined && exact !== "" && /^[<>]?\s*-?[\d.]+(e[+-]?\d+)?\s*%?$/i.test(shown.split(" (")[0]) ? exact : shown;
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${String(text).replaceAll('"', '""')}"` : text);

async function savePlot(plot, kind) {
  if (!plots.drawn.get(plot)?.there) await draw(plot);
  const format = kind.toLowerCase();
  const url = await Plotly.toImage({ data: plot.data, layout: { ...plot.layout, paper_bgcolor: colour("card") } },
    { format, width: plot.clientWidth, height: plot.clientHeight, scale: format === "png" ? 2 : 1 });
  const packed = url.slice(url.indexOf(",") + 1);
  save(`${nameOf(plot)}.${format}`, format === "png" ? "image/png" : "image/svg+xml",
    format === "png" ? Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)) : decodeURIComponent(packed));
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "font-size", "font-family", "text-anchor", "dominant-baseline", "opacity"];

// The drawing of the graphs with its styles written out, so that it looks the same elsewhere.
function graphSvg() {
  const copy = graph.svg.cloneNode(true);
  const pairs = [[graph.svg, copy]];
  while (pairs.length) {
    const [from, to] = pairs.pop();
    [...from.children].forEach((child, k) => pairs.push([child, to.children[k]]));
    const style = getComputedStyle(from);
    for (const name of STYLES) to.style.setProperty(name, style.getPropertyValue(name));
    if (style.display === "none") to.setAttribute("data-remove", "");
  }
  for (const hidden of copy.querySelectorAll("[data-remove], .reach")) hidden.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", graph.width);
  copy.setAttribute("height", graph.height);
  copy.prepend(makeSvg("rect", { width: "100%", height: "100%", fill: colour("paper") }));
  return new XMLSerializer().serializeToString(copy);
}

async function saveGraph(kind) {
  const svg = graphSvg();
  const name = graph.near ? `graph-${slug(names[chosen.variable])}` : "graph";
  if (kind === "SVG") { save(`${name}.svg`, "image/svg+xml", svg); return; }
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = url; });
  const canvas = make("canvas", { width: 2 * graph.width, height: 2 * graph.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => save(`${name}.png`, "image/png", blob));
}
