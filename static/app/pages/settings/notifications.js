import { parley } from "../../client.js";
import { html } from "../../html.js";
import { t } from "../../i18n.js";
import { Switches, useSaved } from "./saved.js";

const SWITCHES = [
  ["enabled", () => t("Notifications enabled"), () => t("If off, you receive no notifications except calls.")],
  ["quiet_mode", () => t("Quiet mode"), () => t("Notifications are listed here, but no push notifications are sent.")],
  ["likes", () => t("Likes")],
  ["comments", () => t("Comments"), () => t("Comments and replies.")],
  ["follows", () => t("Follows")],
  ["messages", () => t("Messages")],
];

const load = () => parley.notifications.preferences().then((reply) => reply.preferences);
const save = (change) => parley.notifications.preferencesChange(change).then((reply) => reply.preferences);

export function Preferences() {
  const [preferences, change] = useSaved(load, save);
  return preferences && html`<${Switches} switches=${SWITCHES} values=${preferences} change=${change} />`;
}
