// A button that opens a menu: arrows move, Enter chooses, Escape leads back to the button.
import { html, useCallback, useEffect, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { Icon } from "./icon.js";
import { Popup } from "./popup.js";

function Items({ items, label, onChoose }) {
  const list = useRef(null);
  const buttons = () => [...list.current.querySelectorAll('[role="menuitem"]')];
  useEffect(() => buttons()[0]?.focus({ preventScroll: true }), []);
  const onKeyDown = (event) => {
    const all = buttons();
    const at = all.indexOf(document.activeElement);
    const forward = document.documentElement.dir === "rtl" ? -1 : 1;
    const steps = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      ArrowRight: at + forward,
      ArrowLeft: at - forward,
      Home: 0,
      End: all.length - 1,
    };
    if (event.key in steps) {
      event.preventDefault();
      all[(steps[event.key] + all.length) % all.length].focus();
    } else if (event.key === "Tab") {
      event.preventDefault();
      onChoose(null);
    } else if (event.key.length === 1) {
      const start = event.key.toLowerCase();
      // The next one with this letter, so that a second press goes on.
      [...all.slice(at + 1), ...all]
        .find((button) => button.textContent.trim().toLowerCase().startsWith(start))
        ?.focus();
    }
  };
  const short = items.filter((item) => item.isShort);
  return html`<div role="menu" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
    ${items
      .filter((item) => !item.isShort)
      .map(
        (
          item,
        ) => html`<button key=${item.label} role="menuitem" tabindex="-1" class=${`menu-item ${item.danger ? "danger-text" : ""}`}
      onClick=${() => onChoose(item)}>${item.icon && html`<${Icon} name=${item.icon} size=${20} />`}<span>${item.label}</span></button>`,
      )}
    ${
      short.length > 0 &&
      html`<div role="group" aria-label=${t("React")} class="menu-line">${short.map(
        (item) =>
          html`<button key=${item.label} role="menuitem" tabindex="-1" class="emoji" onClick=${() => onChoose(item)}>${item.label}</button>`,
      )}</div>`
    }
  </div>`;
}

// items: [{label, icon, danger, isShort, act}]; the short ones stand in one line below the others. `act(button)` runs once the focus is back on the button, and may move it on.
export function Menu({ label, icon = "more", items, className = "", tabindex, disabled }) {
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const close = useCallback((withFocus) => {
    setOpen(false);
    if (withFocus) button.current?.focus({ preventScroll: true });
  }, []);
  const choose = (item) => {
    close(true);
    item?.act(button.current);
  };
  return html`<button ref=${button} type="button" class=${`icon-button ${className}`} aria-label=${label} aria-haspopup="menu" tabindex=${tabindex}
      aria-expanded=${open ? "true" : "false"} disabled=${disabled} onClick=${() => setOpen(!open)}><${Icon} name=${icon} /></button>
    ${
      open &&
      html`<${Popup} anchor=${button.current} onClose=${close} className="menu">
      <${Items} items=${items.filter(Boolean)} label=${label} onChoose=${choose} /><//>`
    }`;
}
