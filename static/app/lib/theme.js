// Light, dark, or what the system prefers; kept in this browser.
import { stored } from "./stored.js";

const KEY = "parley.theme";

export const theme = () => stored.getItem(KEY) ?? "system";

export function setTheme(name) {
  if (name === "system") stored.removeItem(KEY);
  else stored.setItem(KEY, name);
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
