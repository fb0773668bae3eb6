// Light, dark, or the system's theme; plots are redrawn in the new colours.
const themeListeners = [];

function startTheme() {
  const button = byId("theme");
  const themes = ["automatic", "light", "dark"];
  let theme = "automatic";
  try { theme = localStorage.getItem("momentdag-theme") || theme; } catch { /* no storage: fine */ }
  const show = () => {
    if (theme === "automatic") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    for (const listener of themeListeners) listener();
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("momentdag-theme", theme); } catch { /* no storage: fine */ }
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

function startNavigation() {
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const id of links.keys()) seen.observe(byId(id));
}
