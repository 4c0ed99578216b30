// What went wrong, read out as soon as it appears.
import { html } from "../lib/html.js";

export function Alert({ text }) {
  return html`<div role="alert" class=${text ? "alert" : "alert-empty"}>${text}</div>`;
}
