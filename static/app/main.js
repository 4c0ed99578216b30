// The client starts here.
import { config } from "./config.js";
import { html, render } from "./lib/html.js";
import { preferredLanguage, useLanguage } from "./lib/i18n.js";
import { showTheme } from "./lib/theme.js";
import { load } from "./load.js";
import { start } from "./session.js";
import { App } from "./shell.js";

// Some of what a browser lacks tells that it is not one of the newest; they lack other parts of older.js, too.
const isOlder = [
  AbortSignal.any,
  URL.canParse,
  Promise.withResolvers,
  Array.prototype.at,
  Array.prototype.findLast,
  Array.prototype.toSorted,
  Object.hasOwn,
  Intl.Segmenter,
  Intl.ListFormat,
  globalThis.structuredClone,
  globalThis.requestIdleCallback,
  globalThis.ResizeObserver,
  crypto.randomUUID,
].includes(undefined);
if (isOlder) await load("older.js");
showTheme();
await useLanguage(preferredLanguage(), { addresses: config.catalogs });
await start();
render(html`<${App} />`, document.getElementById("app"));
