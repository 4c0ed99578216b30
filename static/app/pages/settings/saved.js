// Values that are saved one by one, each as soon as it is changed.
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { failed } from "../../lib/notices.js";
import { Switch } from "../../ui/forms.js";

// A function that saves one change after the other, so that the last one counts. It gives the reply, or null when
// another change waits, which is not in the reply.
export function useTurns() {
  /** @type {{ current: Promise<any> }} */
  const last = useRef(Promise.resolve());
  return async (save) => {
    const saved = last.current.catch(() => {}).then(save);
    last.current = saved;
    const reply = await saved;
    return last.current === saved ? reply : null;
  };
}

// The values, null until `load` has them, and a function that changes one: shown at once, taken back when `save` fails.
export function useSaved(load, save) {
  const [values, setValues] = useState(null);
  const inTurn = useTurns();
  useEffect(() => {
    load().then(setValues, failed);
  }, []);
  async function change(name, value) {
    const before = values[name];
    setValues((old) => ({ ...old, [name]: value }));
    try {
      const stored = await inTurn(() => save({ [name]: value }));
      // The others may have been changed on another device.
      if (stored) setValues(stored);
    } catch (error) {
      setValues((old) => ({ ...old, [name]: before }));
      failed(error);
    }
  }
  return [values, change];
}

// switches: [[name, label(), hint()?]]
export function Switches({ switches, values, change }) {
  return html`<div class="switches">${switches.map(
    ([name, label, hint]) => html`<${Switch} key=${name} name=${name} label=${label()}
    hint=${hint?.()} checked=${values[name]} onChange=${(event) => change(name, event.currentTarget.checked)} />`,
  )}</div>`;
}
