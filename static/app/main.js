// The client starts here.
import { start } from "./client.js";
import { config } from "./config.js";
import { html, render } from "./html.js";
import { preferredLanguage, useLanguage } from "./i18n.js";
import { App } from "./shell.js";
import { showTheme } from "./theme.js";

showTheme();
await useLanguage(preferredLanguage(), { addresses: config.catalogs });
await start();
render(html`<${App} />`, document.getElementById("app"));
