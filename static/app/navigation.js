// The navigation of signed-in users, with the counts of what is unread.
import { html } from "./lib/html.js";
import { t, tn } from "./lib/i18n.js";
import { useStore } from "./lib/store.js";
import { useUnreadTitle } from "./lib/title.js";
import { NavLink } from "./router.js";
import { app } from "./state/app.js";
import { useUnread } from "./state/feed.js";
import { useMissedCalls } from "./state/missed_calls.js";
import { store } from "./state/store.js";
import { Avatar, nameOf } from "./ui/avatar.js";
import { Icon } from "./ui/icon.js";

export function Navigation() {
  const messages = useStore(store.unread, ({ message_unread_count: count }) => count);
  const unread = useUnread();
  const user = useStore(app, (state) => state.user);
  const missed = useMissedCalls();
  useUnreadTitle(messages);
  return html`<nav class="rail" aria-label=${t("Main")}>
    <${NavLink} href="/app/chats"><${Icon} name="chats" /><span>${t("Chats")}</span><${Count} value=${messages} /><//>
    <${NavLink} href="/app/calls"><${Icon} name="phone" /><span>${t("Calls")}</span><${Count} value=${missed} text=${tn("{n} missed call", "{n} missed calls", missed)} /><//>
    <${NavLink} href="/app/notifications"><${Icon} name="bell" /><span>${t("Notifications")}</span><${Count} value=${unread} /><//>
    <${NavLink} href="/app/settings"><${Icon} name="settings" /><span>${t("Settings")}</span><//>
    ${user && html`<a href="/app/settings/profile" class="rail-own"><${Avatar} user=${user} size="small" /><span class="cut" dir="auto">${nameOf(user)}</span><span class="visually-hidden">${t("your account")}</span></a>`}
  </nav>`;
}

function Count({ value, text = tn("{n} unread", "{n} unread", value) }) {
  return (
    value > 0 &&
    html`<span class="count" aria-hidden="true">${value > 99 ? "99+" : value}</span>
    <span class="visually-hidden">${text}</span>`
  );
}
