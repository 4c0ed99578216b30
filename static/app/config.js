// Configuration that the server embeds in the page (config/web_client.py).
const root = document.getElementById("app");

export const config = { developer: false, demo: [], catalogs: {}, sheets: [], ...JSON.parse(root.dataset.options || "{}") };
// The address that the browser has loaded it from already.
export const ICON = document.querySelector("link[rel=icon]").href;
