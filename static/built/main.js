import { load, showTheme, useLanguage, preferredLanguage, start, Q, App, html, config } from './first.js';

// The client starts here.

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
Q(html`<${App} />`, document.getElementById("app"));
