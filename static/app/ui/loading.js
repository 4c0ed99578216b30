// While something is under way, and what is left when it has failed.
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { errorText } from "../lib/notices.js";

export function Loading({ label = t("Loading") }) {
  return html`<div class="spinner" role="progressbar" aria-label=${label}></div>`;
}

export function Retry({ error, onRetry, className = "danger-text" }) {
  return html`<p class=${className}>${errorText(error)} <button type="button" class="text-button"
    onClick=${() => onRetry()}>${t("Try again")}</button></p>`;
}
