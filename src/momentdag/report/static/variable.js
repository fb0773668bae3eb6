// The selected variable: its parents, curves, levers, and where its variance comes from.
function startVariable() {
  chosen.listeners.push(showVariable);
  byId("threshold").addEventListener("change", () => showAbout(chosen.variable));
  showVariable(chosen.variable);
}

function showVariable(k) {
  showAbout(k);
  showDetail(k);
}

function showAbout(k) {
  const about = content.variables[k];
  byId("about").replaceChildren(
    make("h3", {}, names[k]),
    make("p", { class: "hint" }, summaryOf(about)),
    ...misfitOf(about),
    ...MOMENTS.filter((moment) => moment === "mean" || about.form === "mean").flatMap((moment) => [
      make("h4", {}, make("span", { class: `key ${moment}`, "aria-hidden": "true" }), movedBy(about, moment)),
      edgeList(parentsOf(k, moment), "cause", `${moment}-parents`),
    ]),
    make("h4", {}, "It moves"),
    edgeList(content.picture.edges.filter((edge) => edge.cause === k).sort((a, b) => b.probability - a.probability), "effect", "effects"),
    ...partsOf(about),
    make("h4", {}, "Most probable sets of parents"),
    make("ul", { class: "plain" }, ...about.parent_sets.map((set) => make("li", {},
      make("span", {}, about.form === "mean" ? `mean: ${set.mean.join(", ") || "none"}; spread: ${set.variance.join(", ") || "none"}` : set.mean.join(", ") || "none"),
      make("span", { class: "number" }, share(set.probability))))),
  );
}

function misfitOf({ misfit }) {
  if (misfit === null || !misfit.advice) return [];
  return [make("p", { class: "hint misfit" }, make("b", { class: "doubtful" }, `Misfit ${misfit.index.toFixed(1)}, ${misfit.grade}. `),
    `Its rows differ about its causes ${misfit.index.toFixed(1)} times as much as the model says. ${misfit.advice}`)];
}

const percentage = (part) => `${part > 0 && part < 0.005 ? "< 1" : Math.round(100 * part)} %`;

// The range of a number, or how frequent each level is; in words of its kind.
function summaryOf(about) {
  const { summary, kind, levels } = about;
  const said = `${kind ?? ""}${about.is_log ? ", its logarithm was fitted" : ""}${kind ? ": " : ""}`;
  if (levels.length) {
    const sorted = [...levels].sort((a, b) => b.share - a.share);
    const more = sorted.length > LABELLED ? ` and ${sorted.length - LABELLED} more levels` : "";
    return `${said}${sorted.slice(0, LABELLED).map((one) => `${one.level} ${percentage(one.share)}`).join(", ")}${more}`;
  }
  if (kind === "time") return `${said}${number(summary.min)} to ${number(summary.max)} days`;
  return `${said}mean ${number(summary.mean)}, sd ${number(summary.sd)}, from ${number(summary.min)} to ${number(summary.max)}`;
}

function movedBy(about, moment) {
  if (moment === "variance") return "Its spread is moved by";
  if (about.form === "shares") return "The probabilities of its levels are moved by";
  return about.form === "probability" ? "Its probability is moved by" : "Its mean is moved by";
}

function edgeList(edges, end, id) {
  if (edges.length === 0) return make("p", { class: "hint", id }, "none");
  return make("ul", { class: "parents", id }, ...edges.map((edge) => make("li",
    { class: edge.probability < graph.threshold ? "weak" : null },
    make("button", { type: "button", onclick: () => choose(edge[end]) }, names[edge[end]]),
    make("span", { class: `bar ${edge.moment}`, style: `--share:${edge.probability}`, title: `in the ${WORDS[edge.moment]}` }),
    make("span", { class: "number" }, `${edge.moment === "mean" ? "μ" : "σ"} ${share(edge.probability)}`),
    edge.plain === null ? null : make("span", { class: edge.unsure ? "beside doubtful" : "beside", title: beside(edge) }, `model ${share(edge.plain)}`))));
}

function partsOf(about) {
  if (!about.parts || about.parts.length < 2) return [];
  const label = (part) => part.part === "own noise" ? "its own noise" : `${part.cause}, through its ${part.part === "mean" ? "mean" : "spread"}`;
  const kind = { "own noise": "own", mean: "mean", scale: "scale" };
  const percent = (part) => `${Math.round(100 * part.share)} %`;
  return [
    make("h4", {}, "Where its variance comes from"),
    make("div", { class: "split", "aria-hidden": "true" }, ...about.parts.map((part) =>
      make("span", { class: `part-${kind[part.part]}`, style: `flex:${part.share}`, title: `${label(part)}: ${percent(part)}` }))),
    make("ul", { class: "plain" }, ...about.parts.map((part) => make("li", {},
      make("span", {}, make("span", { class: `swatch part-${kind[part.part]}` }), label(part)), make("span", { class: "number" }, percent(part))))),
    make("p", { class: "hint" }, about.form !== "mean" ? "Shares of today's variance by where it originates." : "Shares of today's variance by where it originates. Setting a cause that scales the noise can cut far more than its own share: the levers below say what remains."),
  ];
}

function showDetail(k) {
  const about = content.variables[k];
  const parts = [];
  if (about.curves.length) {
    parts.push(make("h3", {}, `${names[k]} against each of its parents`));
    const figures = about.curves.map((curve) => {
      const plot = make("div", { class: about.form === "mean" ? "plot tall" : "plot" });
      drawLazily(plot, () => curvePlot(k, curve));
      const moments = MOMENTS.filter((moment) => content.picture.edges.some((edge) =>
        edge.consensus && edge.cause === curve.parent && edge.effect === k && edge.moment === moment));
      const moved = { ...WORDS, mean: { mean: "mean", probability: "probability", shares: "probabilities" }[about.form] };
      const role = `moves the ${moments.map((moment) => moved[moment]).join(" and the ")}`;
      return make("figure", {}, make("h4", {}, `${names[curve.parent]}: ${role}`), plot);
    });
    parts.push(make("div", { class: "plots" }, ...figures));
    parts.push(make("p", { class: "hint" }, curveHint(about)));
  } else {
    parts.push(make("p", { class: "hint" }, content.has_mechanisms ? `${names[k]} has no parents in the consensus, so there are no curves to show.` : "This family has no fitted functions, so there are no curves or levers."));
  }
  parts.push(...leversOf(k, about));
  byId("detail").replaceChildren(...parts);
  furnish(byId("detail"));
}

// Tables and figures that were made just now get what all have.
function furnish(root) {
  if (document.documentElement.dataset.ready !== "true") return;
  labelCells(root);
  explain(root);
  offerDownloads(root);
}

function leversOf(k, about) {
  if (!content.has_mechanisms) return [];
  if (about.notes.length) return about.notes.map((note) => make("p", { class: "hint note" }, note));
  const title = make("h3", {}, `Levers that reduce the variance of ${names[k]}`);
  if (about.levers === null) {
    return [title, make("p", { class: "hint" }, about.has_causes
      ? "Not computed, to keep this page fast. In Python: momentdag.effects.levers(estimator, target)."
      : "No other variable that can be set is a probable cause.")];
  }
  const cell = (row, what) => {
    const [low, high] = [row[`${what}_low`], row[`${what}_high`]];
    return make("td", { "data-value": row[what], "data-low": low, "data-high": high }, `${number(row[what])} (${number(low)} to ${number(high)})`);
  };
  const rows = about.levers.map((row) => make("tr", {},
    make("th", { scope: "row" }, row.levers),
    make("td", {}, row.setting.slice(row.setting.lastIndexOf("=") + 1)),
    cell(row, "variance_ratio"),
    make("td", {}, number(row.ratio_by_level)),
    cell(row, "mean_change"),
    make("td", {}, `${row.holds ? "yes" : "no"} (${share(row.p_held)})`),
    make("td", {}, share(row.p_variance_only))));
  const headings = ["lever", "set to", "variance ratio", "ratio by level", "change of the mean", "mean kept", "moves only the spread"];
  const advice = make("p", { class: "verdict", id: "recommendation" }, `Recommended: ${about.recommendation}`);
  if (rows.length === 0) return [title, advice];
  return [title, advice, make("div", { class: "scroll" }, make("table", { id: "levers" },
    make("caption", {}, `For each probable cause, the setting that reduces the variance of ${names[k]} most while its mean stays within ±${about.tolerance}, with 90 % intervals. A variance ratio of 0.4 is 40 % of today's variance. Causes whose level matters come first; the others act by being held fixed, at any value.${about.n_idle ? ` ${about.n_idle} more change next to nothing and are not listed.` : ""}`),
    make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows)))];
}
