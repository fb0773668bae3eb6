// Behind the name of a number stands a question mark; pointing at it, focus and touch show what it is.
function whatIs(label) {
  const text = content.glossary[label];
  if (!text) return null;
  const button = make("button", { type: "button", class: "what", "aria-label": `${label}: ${text}` }, "?");
  const show = () => { const tip = byId("tooltip"); tip.textContent = text; tip.hidden = false; placeBelow(button, tip); };
  const hide = () => { byId("tooltip").hidden = true; };
  button.addEventListener("pointerenter", show);
  button.addEventListener("pointerleave", hide);
  button.addEventListener("focus", show);
  button.addEventListener("blur", hide);
  button.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); show(); });
  button.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  return button;
}

// Below the button, within the window.
function placeBelow(button, tip) {
  const box = button.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
  const below = box.bottom + 6;
  tip.style.top = `${below + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 6 : below}px`;
}

// Headings of tables and names in lists of numbers, under `root`.
function explain(root) {
  for (const element of root.querySelectorAll("thead th, .numbers dt")) {
    if (element.querySelector(".what")) continue;
    const button = whatIs(element.textContent.trim());
    if (button) element.append(" ", button);
  }
}

// On a phone each cell has the name of its column beside it, and rows stand below each other.
function labelCells(root) {
  for (const table of root.querySelectorAll("table")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.dataset.label ?? head.textContent.trim());
    table.querySelectorAll("thead th").forEach((head, k) => { head.dataset.label = heads[k]; });
    if (!heads.length) continue;
    for (const row of table.tBodies[0]?.rows ?? []) [...row.cells].forEach((cell, k) => { if (cell.tagName === "TD") cell.dataset.label = heads[k]; });
  }
}

function startGlossary() {
  labelCells(document);
  explain(document);
}
