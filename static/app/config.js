// Configuration that the server embeds in the page (portal/client/page.py).
const root = document.getElementById("app");

export const config = {
  product: "",
  developer: false,
  demo: [],
  pictures: {},
  catalogs: {},
  emoji: {},
  sheets: [],
  switches: [],
  ...JSON.parse(root.dataset.options || "{}"),
};
// The address that the browser has loaded it from already.
export const ICON = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")).href;
