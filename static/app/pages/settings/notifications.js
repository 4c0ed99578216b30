import { parley } from "../../client.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { failed } from "../../ui/notices.js";
import { Switch } from "../forms.js";

const SWITCHES = [
  ["enabled", () => t("Notifications enabled"), () => t("If off, you receive no notifications except calls.")],
  ["quiet_mode", () => t("Quiet mode"), () => t("Notifications are listed here, but no push notifications are sent.")],
  ["likes", () => t("Likes")],
  ["comments", () => t("Comments"), () => t("Comments and replies.")],
  ["follows", () => t("Follows")],
  ["messages", () => t("Messages")],
];

export function Preferences() {
  const [preferences, setPreferences] = useState(null);
  useEffect(() => {
    parley.notifications.preferences().then((reply) => setPreferences(reply.preferences), failed);
  }, []);
  async function change(name, value) {
    setPreferences((old) => ({ ...old, [name]: value }));
    try {
      const reply = await parley.notifications.preferencesChange({ [name]: value });
      setPreferences(reply.preferences);
    } catch (error) {
      setPreferences((old) => ({ ...old, [name]: !value }));
      failed(error);
    }
  }
  return preferences && html`<div class="switches">${SWITCHES.map(([name, label, hint]) => html`<${Switch} key=${name} name=${name}
    label=${label()} hint=${hint?.()} checked=${preferences[name]}
    onChange=${(event) => change(name, event.currentTarget.checked)} />`)}</div>`;
}
