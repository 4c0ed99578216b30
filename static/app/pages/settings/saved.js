// Values that are saved one by one, each as soon as it is changed.
import { html, useEffect, useRef, useState } from "../../html.js";
import { failed } from "../../ui/notices.js";
import { Switch } from "../forms.js";

// The values, null until `load` has them, and a function that changes one: shown at once, taken back when `save` fails.
// Changes are saved one after the other, so that the last one counts.
export function useSaved(load, save) {
  const [values, setValues] = useState(null);
  const last = useRef(Promise.resolve());
  useEffect(() => {
    load().then(setValues, failed);
  }, []);
  async function change(name, value) {
    const before = values[name];
    setValues((old) => ({ ...old, [name]: value }));
    const saved = last.current.catch(() => {}).then(() => save({ [name]: value }));
    last.current = saved;
    try {
      const stored = await saved;
      // The others may have been changed on another device. What waits to be saved is not in it.
      if (last.current === saved) setValues(stored);
    } catch (error) {
      setValues((old) => ({ ...old, [name]: before }));
      failed(error);
    }
  }
  return [values, change];
}

// switches: [[name, label(), hint()?]]
export function Switches({ switches, values, change }) {
  return html`<div class="switches">${switches.map(([name, label, hint]) => html`<${Switch} key=${name} name=${name} label=${label()}
    hint=${hint?.()} checked=${values[name]} onChange=${(event) => change(name, event.currentTarget.checked)} />`)}</div>`;
}
