// Light, dark, or what the system prefers; kept in this browser.
const KEY = "parley.theme";

export const theme = () => localStorage.getItem(KEY) ?? "system";

export function setTheme(name) {
  if (name === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, name);
  showTheme();
}

export function showTheme() {
  const name = theme();
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

addEventListener("storage", (event) => {
  if (event.key === KEY) showTheme();
});
