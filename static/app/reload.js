// Whether a reload of the page would take nothing from the user: texts that are kept only in this page, dialogs, a call.
import { parley } from "./client.js";
import { isKeeping } from "./lib/stored.js";

/** @param {HTMLInputElement} field or a text area */
const isFilled = ({ type, value, defaultValue, files }) =>
  type === "file"
    ? files.length > 0
    : ["text", "password", "email", "search", "textarea"].includes(type) && value !== defaultValue;

export function canReload() {
  if (!isKeeping || parley.calls.current || parley.outbox.items().length > 0) return false;
  const fields = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input, textarea")]);
  return !document.querySelector("dialog[open], .staged") && !fields.some(isFilled);
}
