import { html } from './first.js';

// What went wrong, read out as soon as it appears.

function Alert({ text }) {
  return html`<div role="alert" class=${text ? "alert" : "alert-empty"}>${text}</div>`;
}

export { Alert };
