// Preact, its hooks and htm under one roof: components write html`<p>…</p>`.
import { Fragment, createContext, h, render } from "preact";
import htm from "htm";

export * from "preact/hooks";
export { Fragment, createContext, render };
export const html = htm.bind(h);
