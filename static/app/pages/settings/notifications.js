import { notificationState, turnNotificationsOff, turnNotificationsOn } from "../../chat/desktop_notifications.js";
import { parley } from "../../client.js";
import { config } from "../../config.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { failed } from "../../lib/notices.js";
import { onReturn } from "../../ui/focus.js";
import { Switch } from "../../ui/forms.js";
import { Switches, useSaved } from "./saved.js";

const GENERAL = ["enabled", "quiet_mode"];
/** @type {[string, () => string, (() => string)?][]} */
const SWITCHES = [
  ["enabled", () => t("Notifications enabled"), () => t("If off, you receive no notifications except calls.")],
  ["quiet_mode", () => t("Pause push notifications"), () => t("They still appear under Notifications.")],
  ["likes", () => t("Likes")],
  ["comments", () => t("Comments"), () => t("Comments and replies.")],
  ["follows", () => t("Follows")],
  ["messages", () => t("Messages")],
];

// Not those of kinds that nothing sends here.
const shown = () => SWITCHES.filter(([name]) => GENERAL.includes(name) || config.switches.includes(name));

const load = () => parley.notifications.preferences().then((reply) => reply.preferences);
const save = (change) => parley.notifications.preferencesChange(change).then((reply) => reply.preferences);

export function Preferences() {
  const [preferences, change] = useSaved(load, save);
  return (
    preferences && html`<${Switches} switches=${shown()} values=${preferences} change=${change} /><${InThisBrowser} />`
  );
}

const HINTS = {
  on: () => t("While no window of {product} is in sight: new messages and calls.", { product: config.product }),
  off: () => t("While no window of {product} is in sight: new messages and calls.", { product: config.product }),
  denied: () =>
    t("The browser blocks them. Allow notifications for this page in its settings, then turn them on here."),
  unsupported: () => t("This browser cannot show notifications of this page."),
};

function InThisBrowser() {
  const [{ state }, setShown] = useState(() => ({ state: notificationState() }));
  const setState = (next) => setShown({ state: next });
  // Allowed or blocked in the settings of the browser meanwhile.
  useEffect(() => onReturn(() => setState(notificationState())), []);
  const isFixed = state === "denied" || state === "unsupported";
  const change = ({ currentTarget: { checked } }) => {
    if (isFixed) setState(state);
    else if (checked) turnNotificationsOn().then(setState, failed);
    else {
      turnNotificationsOff();
      setState(notificationState());
    }
  };
  return html`<div class="switches"><${Switch} label=${t("Notifications in this browser")} hint=${HINTS[state]()} checked=${state === "on"}
    aria-disabled=${isFixed} onChange=${change} /></div>`;
}
