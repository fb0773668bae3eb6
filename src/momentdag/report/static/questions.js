// Questions about the drawn graph pairs: all clauses must hold in the same draw.
const RELATIONS = [
  ["has a path, of any edges, to", (draw, a, b) => reaches(draw.either, a, b)],
  ["has a path of mean edges to", (draw, a, b) => reaches(draw.mean, a, b)],
  ["has a path of variance edges to", (draw, a, b) => reaches(draw.variance, a, b)],
  ["directly moves the mean or spread of", (draw, a, b) => draw.either[a].includes(b)],
  ["directly moves the mean of", (draw, a, b) => draw.mean[a].includes(b)],
  ["directly moves the spread of", (draw, a, b) => draw.variance[a].includes(b)],
  ["directly moves only the spread of", (draw, a, b) => draw.variance[a].includes(b) && !draw.mean[a].includes(b)],
  ["influences the mean of", (draw, a, b) => influences(draw, draw.mean, a, b)],
  ["influences the spread of", (draw, a, b) => influences(draw, draw.variance, a, b)],
];
const PATHS = ["either", "mean", "variance"];
const MOST_ROUTES = 8, MOST_IN_A_DRAW = 200;

const questions = { draws: null, clauses: [] };

function unpackDraws() {
  const { edges, n_draws: nDraws, bits } = content.draws;
  const bytes = Uint8Array.from(atob(bits), (character) => character.charCodeAt(0));
  const width = Math.ceil(edges.length / 8);
  const distinct = new Map();
  for (let k = 0; k < nDraws; k += 1) {
    const part = bytes.subarray(k * width, (k + 1) * width);
    const key = part.join();
    const known = distinct.get(key);
    if (known) { known.count += 1; continue; }
    const empty = () => names.map(() => []);
    const draw = { count: 1, mean: empty(), variance: empty(), either: empty() };
    edges.forEach(([cause, effect, moment], e) => {
      if (!(part[e >> 3] & (128 >> (e & 7)))) return;
      draw[MOMENTS[moment]][cause].push(effect);
      if (!draw.either[cause].includes(effect)) draw.either[cause].push(effect);
    });
    distinct.set(key, draw);
  }
  return [...distinct.values()];
}

function reached(children, start) {
  const found = new Set();
  const waiting = [...children[start]];
  while (waiting.length) {
    const node = waiting.pop();
    if (found.has(node)) continue;
    found.add(node);
    waiting.push(...children[node]);
  }
  return found;
}

const reaches = (children, start, end) => reached(children, start).has(end);

// Whether the variable is, or reaches, a parent of the effect in that graph.
function influences(draw, children, start, end) {
  if (children[start].includes(end)) return true;
  for (const node of reached(draw.either, start)) if (children[node].includes(end)) return true;
  return false;
}

function routesIn(children, start, end) {
  const useful = new Set(names.keys());
  for (const k of names.keys()) if (k !== end && !reaches(children, k, end)) useful.delete(k);
  const found = [];
  const walk = (route) => {
    if (found.length >= MOST_IN_A_DRAW) return;
    for (const next of children[route.at(-1)]) {
      if (next === end) found.push([...route, next]);
      else if (useful.has(next)) walk([...route, next]);
    }
  };
  walk([start]);
  return found;
}

function ask() {
  questions.draws ??= unpackDraws();
  const { clauses, draws } = questions;
  const total = content.draws.n_draws;
  let holds = 0;
  const routes = new Map();
  const last = clauses.at(-1);
  const followed = PATHS[last.relation];
  for (const draw of draws) {
    if (!clauses.every((clause) => RELATIONS[clause.relation][1](draw, clause.cause, clause.effect))) continue;
    holds += draw.count;
    if (!followed) continue;
    for (const route of routesIn(draw[followed], last.cause, last.effect)) {
      const key = route.join();
      routes.set(key, { route, count: (routes.get(key)?.count ?? 0) + draw.count });
    }
  }
  const question = clauses.map((clause) => `${names[clause.cause]} ${RELATIONS[clause.relation][0]} ${names[clause.effect]}`).join(", and ");
  byId("answer").replaceChildren(make("b", {}, share(holds / total)), ` — ${question}`);
  showRoutes([...routes.values()], followed, total);
}

function showRoutes(routes, followed, total) {
  if (!followed || routes.length === 0) { byId("routes").replaceChildren(); return; }
  routes.sort((a, b) => b.count - a.count || a.route.length - b.route.length);
  const rows = routes.slice(0, MOST_ROUTES).map(({ route, count }) => make("tr", {},
    make("th", { scope: "row" }, route.map((k) => names[k]).join(" → ")), make("td", {}, share(count / total))));
  byId("routes").replaceChildren(make("table", {},
    make("caption", {}, `Routes, and the share of all draws that contain each${routes.length > MOST_ROUTES ? `: the ${MOST_ROUTES} most frequent of ${routes.length}` : ""}. A draw can contain several.`),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "route"), make("th", { scope: "col" }, "in the draws"))),
    make("tbody", {}, ...rows)));
  furnish(byId("routes"));
}

function drawClauses() {
  const option = (label, value, current) => make("option", { value, selected: value === current ? "" : null }, label);
  const select = (clause, key, labels, label) => make("select", { "aria-label": label, onchange: (event) => { clause[key] = Number(event.target.value); ask(); } },
    ...labels.map((text, k) => option(text, k, clause[key])));
  byId("clauses").replaceChildren(...questions.clauses.map((clause, k) => make("div", { class: "clause" },
    k ? make("span", {}, "and") : null,
    select(clause, "cause", names, "cause"), select(clause, "relation", RELATIONS.map(([text]) => text), "relation"), select(clause, "effect", names, "effect"),
    k ? make("button", { type: "button", "aria-label": "Remove this clause", onclick: () => { questions.clauses.splice(k, 1); drawClauses(); ask(); } }, "×") : null)));
}

function startQuestions() {
  const [cause, effect] = content.first_path;
  questions.clauses = [{ cause, relation: 0, effect }];
  byId("add-clause").addEventListener("click", () => { questions.clauses.push({ ...questions.clauses.at(-1) }); drawClauses(); ask(); });
  drawClauses();
  addEventListener("beforeprint", ask);
  // Unpacking many draws can wait until the section is near.
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) { seen.disconnect(); ask(); }
  }, { rootMargin: "600px" });
  seen.observe(byId("questions"));
}
