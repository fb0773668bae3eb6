// What happens to an outcome if a cause is set, or two: sliders, a table, the command, and maps.
const whatif = { axes: {}, outcomes: [], outcome: null, set: new Map(), limits: [null, null], forced: false };
const STEPS = 200;

function startWhatIf() {
  if (!content.whatif) return;
  for (const [name, packed] of Object.entries(content.whatif.axes)) whatif.axes[name] = makeAxis(packed);
  whatif.outcomes = content.whatif.outcomes.map((packed) => makeOutcome(packed, whatif.axes));
  byId("outcome").addEventListener("change", (event) => showOutcome(Number(event.target.value)));
  for (const id of ["lower-limit", "upper-limit"]) byId(id).addEventListener("input", readLimits);
  byId("whatif-controls").addEventListener("submit", (event) => event.preventDefault());
  byId("whatif-reset").addEventListener("click", () => { whatif.set.clear(); drawCauses(); answerWhatIf(); });
  byId("whatif-force").addEventListener("change", (event) => { whatif.forced = event.target.checked; answerWhatIf(); });
  byId("copy-command").addEventListener("click", () => copyText(byId("whatif-command")));
  startMaps();
  showOutcome(0);
}

// Positions for interpolation against values in the units of the file.
function makeAxis(packed) {
  const [nodes, mapNodes, steps] = [packed.nodes, packed.map_nodes, packed.steps].map((text) => unpackNumbers(text, Float64Array));
  const ends = [nodes[0], nodes.at(-1)].map((p) => (packed.is_log ? Math.exp(p) : p));
  const digits = Math.max(0, 2 - Math.floor(Math.log10(ends[1] - ends[0])));
  const positionOf = (value) => (packed.is_log ? Math.log(value) : value);
  const stops = packed.labels.length ? packed.labels.map((_, k) => k) : steps.length ? steps
    : Array.from({ length: STEPS + 1 }, (_, k) => {
      const position = nodes[0] + (nodes.at(-1) - nodes[0]) * k / STEPS;
      const value = packed.is_log ? Number(Math.exp(position).toPrecision(4)) : Number(position.toFixed(Math.min(digits, 20)));
      return Math.min(ends[1], Math.max(ends[0], value));
    });
  return {
    ...packed, nodes, mapNodes, stops,
    position: (stop) => (packed.labels.length ? stop : positionOf(stops[stop])),
    text: (stop) => (packed.labels.length ? packed.labels[stop] : String(stops[stop])),
    nearest: (position) => nearestStop(stops, packed.labels.length ? position : packed.is_log ? Math.exp(position) : position),
    start: packed.labels.length ? packed.first : nearestStop(stops, one(packed.typical)) };
}

const nearestStop = (stops, value) => stops.reduce((best, stop, k) => (Math.abs(stop - value) < Math.abs(stops[best] - value) ? k : best), 0);

function showOutcome(k) {
  whatif.outcome = whatif.outcomes[k];
  const { outcome } = whatif;
  byId("outcome").value = k;
  for (const cause of [...whatif.set.keys()]) if (!outcome.causes.includes(cause)) whatif.set.delete(cause);
  const hasRisk = outcome.K > 1;
  byId("limits").hidden = byId("limits-note").hidden = !hasRisk;
  [byId("lower-limit").value, byId("upper-limit").value] = hasRisk ? outcome.limits : ["", ""];
  byId("whatif-trust").textContent = outcome.message || `The model reproduces ${outcome.name} and what moves it, and the draws agree.`;
  byId("whatif-trust").className = `verdict ${outcome.grade === "fine" ? "fine" : "doubtful"}`;
  byId("whatif-force").hidden = !outcome.is_refused;
  const { accuracy } = outcome;
  byId("whatif-accuracy").textContent = `Computed when this page was written, at settings on a grid, in the ${content.whatif.n_draws} posterior draws that momentdag effects takes (${outcome.n_rows} rows of noise in each instead of 512), and interpolated between them. Compared with momentdag effects at ${accuracy.n_settings} settings between those of the grid, ${outcome.name} was off by at most ${percentOf(accuracy.mean)} of its sd in the mean${outcome.is_binary ? "" : `, ${percentOf(accuracy.sd)} in the sd${hasRisk ? ` and ${percentOf(accuracy.risk)} of all cases in the risk` : ""}`}. At most two causes can be set together here; the command line sets any number.`;
  drawCauses();
  showPairs();
  readLimits();
}

const percentOf = (share) => (share < 0.0005 ? "less than 0.1 %" : `${(100 * share).toFixed(1)} %`);

function readLimits() {
  whatif.limits = ["lower-limit", "upper-limit"].map((id) => (byId(id).value === "" ? null : Number(byId(id).value)));
  answerWhatIf();
}

function drawCauses() {
  byId("causes").replaceChildren(...whatif.outcome.causes.map((name, k) => {
    const axis = whatif.axes[name], stop = whatif.set.get(name) ?? axis.start;
    const box = make("input", { type: "checkbox", id: `set-${k}`, onchange: (event) => setCause(name, event.target.checked ? whatif.set.get(name) ?? axis.start : null) });
    box.checked = whatif.set.has(name);
    const value = make("output", { for: `slide-${k}` }, axis.text(stop));
    const slider = make("input", { type: "range", id: `slide-${k}`, min: 0, max: axis.stops.length - 1, step: 1, value: stop, "data-cause": name, "aria-label": name, "aria-valuetext": axis.text(stop),
      oninput: (event) => setCause(name, Number(event.target.value)) });
    return make("div", { class: whatif.set.has(name) ? "cause" : "cause free", "data-cause": name },
      make("label", { for: `set-${k}` }, box, make("span", {}, name)), slider, value);
  }));
}

// Two causes at most, and only those that were computed together: the one set first is freed.
function setCause(name, stop) {
  const { outcome, set } = whatif;
  let freed = null;
  if (stop === null) set.delete(name);
  else {
    if (!set.has(name) && set.size) {
      const others = [...set.keys()];
      const kept = others.at(-1);
      for (const other of others) if (other !== kept || keyOf([kept, name]) === null) { set.delete(other); freed = other; }
    }
    set.set(name, stop);
  }
  for (const row of byId("causes").children) {
    const cause = row.dataset.cause, axis = whatif.axes[cause], at = set.get(cause);
    row.className = at === undefined ? "cause free" : "cause";
    row.querySelector("input[type=checkbox]").checked = at !== undefined;
    const slider = row.querySelector("input[type=range]");
    if (at !== undefined) slider.value = at;
    row.querySelector("output").textContent = axis.text(Number(slider.value));
    slider.setAttribute("aria-valuetext", axis.text(Number(slider.value)));
  }
  byId("whatif-note").textContent = freed ? `${freed} is as today again: ${keyOf([freed, name]) === null ? "it was not computed together with" : "at most two are set, now with"} ${name}.` : "";
  if (outcome && set.size === 2) followPair();
  answerWhatIf();
}

// The table of these causes, in whichever order it was computed; null if it was not.
function keyOf(causes) {
  const keys = [causes, [...causes].reverse()].map((list) => list.join("\t"));
  return keys.find((key) => key === "" || key in whatif.outcome.tables) ?? null;
}

function answerWhatIf() {
  const { outcome, set, limits } = whatif;
  const key = keyOf([...set.keys()]);
  const causes = outcome.causesOf(key);
  const today = outcome.at("", [], limits);
  const then = outcome.at(key, causes.map((name) => whatif.axes[name].position(set.get(name))), limits);
  const hidden = outcome.is_refused && !whatif.forced;
  const rows = outcome.is_binary ? [["probability", "mean"]] : [["mean", "mean"], ["spread (sd)", "sd"], ["outside limits", "risk"]];
  const cell = (values, what) => (hidden || !values ? make("td", {}, "–") : make("td", { "data-value": values[0], "data-low": values[1], "data-high": values[2] },
    make("b", {}, spell(values[0], what)), make("span", { class: "interval" }, `${spell(values[1], what)} to ${spell(values[2], what)}`)));
  byId("whatif-table").tBodies[0].replaceChildren(...rows.filter(([, what]) => what !== "risk" || then.risk).map(([label, what]) =>
    make("tr", { "data-what": what }, make("th", { scope: "row" }, label, " ", whatIs(label)), cell(today[what], what), cell(set.size ? then[what] : null, what))));
  showRobust(hidden);
  byId("whatif-command").textContent = commandOf(outcome);
  byId("copied").textContent = "";
  markMaps();
}

const spell = (value, what) => (what === "risk" ? (value > 0 && value < 0.001 ? "< 0.1 %" : `${(100 * value).toFixed(1)} %`) : Number(value.toPrecision(4)).toString());

function showRobust(hidden) {
  const { outcome } = whatif;
  if (outcome.is_binary) { byId("robust").replaceChildren("The variance of two values follows from their probability: there is nothing to steady."); return; }
  if (outcome.is_refused) { byId("robust").replaceChildren("Nothing is recommended, because this answer is not to be used."); return; }
  if (!outcome.best) { byId("robust").replaceChildren(`No setting computed here steadies ${outcome.name} and surely keeps its mean.`); return; }
  const best = outcome.robust[outcome.best], causes = outcome.causesOf(outcome.best);
  const stops = causes.map((name, k) => whatif.axes[name].nearest(best.positions[k]));
  const what = causes.map((name, k) => `${name} to ${whatif.axes[name].text(stops[k])}`).join(" and ");
  byId("robust").replaceChildren(
    make("b", {}, "Recommended: "), `set ${what}. The variance of ${outcome.name} is then ${Math.round(100 * best.variance_ratio)} % of today's, and its mean stays within a tenth of an sd with probability ${share(best.p_held)}. `,
    make("button", { type: "button", id: "show-robust", onclick: () => { whatif.set.clear(); causes.forEach((name, k) => whatif.set.set(name, stops[k])); drawCauses(); if (causes.length === 2) followPair(); answerWhatIf(); } }, "Show it"));
}

// As one would type it; quoted for a shell where a name needs it.
function commandOf(outcome) {
  const quoted = (text) => (/^[\w.,:=+\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const parts = ["momentdag effects", quoted(content.whatif.run), "--target", quoted(outcome.name)];
  for (const [name, stop] of whatif.set) parts.push("--do", quoted(`${name}=${whatif.axes[name].text(stop)}`));
  const [low, high] = whatif.limits;
  if (outcome.K > 1 && (low !== null || high !== null)) parts.push("--limits", quoted(`${outcome.name}=${low ?? ""}:${high ?? ""}`));
  if (outcome.is_refused) parts.push("--force");
  return parts.join(" ");
}

async function copyText(element) {
  const say = (text) => { byId("copied").textContent = text; };
  try { await navigator.clipboard.writeText(element.textContent); say("Copied"); } catch {
    getSelection().selectAllChildren(element);  // the user copies what is marked
    say(document.execCommand("copy") ? "Copied" : "Marked: press Ctrl+C");
  }
}
