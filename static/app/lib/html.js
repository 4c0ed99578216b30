// Preact, its hooks and htm under one roof: components write html`<p>…</p>`.

import htm from "htm";
import { createContext, Fragment, h, render } from "preact";

import "./translated.js";

export * from "preact/hooks";
export { Fragment, createContext, render };
export const html = htm.bind(h);
