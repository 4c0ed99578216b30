// Dialogs of the browser's own kind: focus stays inside, Escape closes, focus returns.
import { html, render, useId, useLayoutEffect, useRef } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { onNavigation } from "../router.js";
import { Icon } from "./icon.js";
import { isComposing } from "./keys.js";
import { Notices } from "./notices.js";

const headingOf = (place) => (place?.isConnected ? place : document).querySelector(":is(h1, h2)[tabindex]");

// Its notices are its own: those of the page lie behind it. `tools` stand before the button that closes it.
export function Dialog({
  title,
  onClose,
  alert = false,
  className = "",
  tools = null,
  onKeyDown = undefined,
  children,
}) {
  const self = useRef(null);
  const heading = useId();
  // Before anything else can take the focus: it returns to what has opened the dialog.
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    const around = before?.closest("section, main");
    const element = self.current;
    element.showModal();
    // Not the button that closes it.
    if (!element.querySelector("[autofocus]"))
      element.querySelector("form :is(input:not([hidden]), select, textarea)")?.focus();
    return () => {
      // What is outside takes no focus as long as the dialog is open.
      element.close();
      before?.focus({ preventScroll: true });
      // It may have gone with the change.
      const { activeElement: now } = document;
      if (before !== document.body && (now === document.body || element.contains(now)))
        headingOf(around)?.focus({ preventScroll: true });
    };
  }, []);
  // The browser does not say of which key an order to close comes.
  const ofInputMethod = useRef(false);
  const onKeyDownCapture = (event) => {
    ofInputMethod.current = isComposing(event);
    // The order follows its key at once.
    setTimeout(() => {
      ofInputMethod.current = false;
    });
  };
  const onCancel = (event) => {
    event.preventDefault();
    if (!ofInputMethod.current) onClose();
  };
  // A press beside it closes it; one that began inside, as a selection of text does, does not.
  const pressed = useRef(null);
  const onPointerDown = (event) => {
    pressed.current = event.target;
  };
  const onClick = (event) => event.target === self.current && pressed.current === self.current && onClose();
  return html`<dialog ref=${self} class=${`dialog ${className}`} role=${alert ? "alertdialog" : "dialog"} aria-labelledby=${heading}
      onKeyDownCapture=${onKeyDownCapture} onKeyDown=${onKeyDown} onCancel=${onCancel} onPointerDown=${onPointerDown} onClick=${onClick}>
    <div class="dialog-body"><header class="dialog-head"><h2 id=${heading}>${title}</h2>${tools}
      <button type="button" class="icon-button" aria-label=${t("Close")} onClick=${onClose}><${Icon} name="close" /></button></header>
      ${children}</div>
    <${Notices} /></dialog>`;
}

// Asks before something that cannot be taken back. Resolves to true or false; leaving the page counts as no.
export function confirm({ title, text, action, danger = false }) {
  const place = document.createElement("div");
  document.body.append(place);
  return new Promise((resolve) => {
    const answer = (value) => {
      stop();
      render(null, place);
      place.remove();
      resolve(value);
    };
    const stop = onNavigation(() => answer(false));
    render(
      html`<${Dialog} title=${title} alert onClose=${() => answer(false)}>
        <p>${text}</p>
        <div class="row dialog-actions"><button class="button" autofocus onClick=${() => answer(false)}>${t("Cancel")}</button>
          <button class=${`button ${danger ? "danger" : "primary"}`} onClick=${() => answer(true)}>${action}</button></div><//>`,
      place,
    );
  });
}
