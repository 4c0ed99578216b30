import { T, useTitle, t, A, Icon, navigate, Retry, html, Loading, failed, tn, ago, parley, notice } from '../first.js';
import { useFeed, useUnread, onReturn, store, usePeer, nameOf, Avatar, remove, focusIfLost, loadSecurity } from './chats.js';
import { deviceName } from '../device_name.js';

// The notifications: grouped, newest first, read and removed here; between them missed calls, sign-ins and security changes.


const UNDO_SECONDS = 5;

// Who did what. A group of several names the latest and counts the others.
function sentence({ type, actor, target, count }) {
  const name = nameOf(actor);
  const title = target?.title || "";
  const others = count - 1;
  switch (type) {
    case "post_like":
      return others > 0
        ? tn("{name} and {n} other like “{title}”", "{name} and {n} others like “{title}”", others, { name, title })
        : t("{name} likes “{title}”", { name, title });
    case "comment":
      return tn("{name} commented on “{title}”", "{n} comments on “{title}”, the last one by {name}", count, {
        name,
        title,
      });
    case "reply":
      return tn(
        "{name} replied to your comment on “{title}”",
        "{n} replies to your comment on “{title}”, the last one by {name}",
        count,
        { name, title },
      );
    case "follow":
      return others > 0
        ? tn("{name} and {n} other follow you", "{name} and {n} others follow you", others, { name })
        : t("{name} follows you", { name });
    case "follow_request":
      return t("{name} would like to follow you", { name });
    case "follow_approved":
      return t("{name} lets you follow", { name });
    default:
      return title ? t("{name}: {title}", { name, title }) : name;
  }
}

const buttonIn = (entry) => entry?.querySelector(".remove");

// The entries below one, then those above it, the nearest first.
function neighbours(entry) {
  const all = [...entry.parentElement.children];
  const at = all.indexOf(entry);
  return [...all.slice(at + 1), ...all.slice(0, at).reverse()];
}

function Body({ text, at }) {
  return html`<span class="feed-text"><span dir="auto">${text}</span>
    <span class="muted small"><time datetime=${at}>${ago(at, parley.now())}</time></span></span>`;
}

function Notification({ row }) {
  const address = row.type.startsWith("follow") ? `/app/people/${row.actor.id}` : null;
  const place = `notification-${row.id}`;
  const onRemove = ({ currentTarget }) => {
    const entry = currentTarget.closest("li");
    // What has the focus goes away: it moves to an entry beside it, or to the heading.
    (neighbours(entry).map(buttonIn).find(Boolean) ?? document.querySelector("main h1")).focus();
    const { send, undo } = remove(row.id, () => withdraw());
    const withdraw = notice(t("Notification removed"), {
      label: t("Undo"),
      seconds: UNDO_SECONDS,
      gone: send,
      act: () => {
        undo();
        requestAnimationFrame(() => buttonIn(document.getElementById(place))?.focus());
      },
    });
  };
  const seen = () => row.is_read || store.notifications.read(row.id).catch(failed);
  const onRead = ({ currentTarget }) => {
    const entry = currentTarget.closest("li");
    seen();
    focusIfLost(buttonIn(entry));
  };
  const body = html`<${Body} text=${sentence(row)} at=${row.created_at} />`;
  return html`<li id=${place} class=${`feed-row ${row.is_read ? "" : "unread"}`}>
    <${Avatar} user=${row.actor} size="small" />
    ${address ? html`<a class="feed-link" href=${address} onClick=${seen}>${body}</a>` : html`<div class="feed-link">${body}</div>`}
    ${!row.is_read && html`<button type="button" class="icon-button" aria-label=${t("Mark as read")} title=${t("Mark as read")} onClick=${onRead}><${Icon} name="check" /></button>`}
    <button type="button" class="icon-button remove" aria-label=${t("Remove")} title=${t("Remove")} onClick=${onRemove}><${Icon} name="close" /></button>
    ${!row.is_read && html`<span class="visually-hidden">${t("unread")}</span>`}
  </li>`;
}

function Missed({ row: call }) {
  const peer = usePeer(call.conversation_id);
  const name = peer ? nameOf(peer) : t("Unknown person");
  const text =
    call.media === "video"
      ? t("Missed video call from {name}", { name })
      : t("Missed voice call from {name}", { name });
  return html`<li class="feed-row">
    ${peer ? html`<${Avatar} user=${peer} size="small" />` : html`<span class="feed-icon"><${Icon} name="phone" /></span>`}
    <a class="feed-link" href=${`/app/chats/${call.conversation_id}`}><${Body} text=${text} at=${call.created_at} /></a>
  </li>`;
}

function SignIn({ row: session }) {
  const device = deviceName(session);
  const { count } = session;
  const text =
    count === 1
      ? t("Signed in: {device}", { device })
      : tn("Signed in {n} time: {device}", "Signed in {n} times: {device}", count, { device });
  return html`<li class="feed-row"><span class="feed-icon"><${Icon} name="screen" /></span>
    <a class="feed-link" href="/app/settings/devices"><${Body} text=${text} at=${session.created_at} /></a>
  </li>`;
}

// A newer server may tell more.
const SECURITY = {
  password_changed: () => t("Your password was changed."),
  email_changed: () => t("Your e-mail address was changed."),
  email_change_undone: () => t("Your earlier e-mail address is back."),
  two_step_set: () => t("Your second password was set."),
  two_step_disabled: () => t("Two-step verification was turned off."),
  recovery_codes_made: () => t("New recovery codes were made."),
};

function Security({ row: change }) {
  const text = SECURITY[change.type]?.();
  return (
    text &&
    html`<li class="feed-row"><span class="feed-icon"><${Icon} name="lock" /></span>
    <a class="feed-link" href="/app/settings/security"><${Body} text=${text} at=${change.created_at} /></a>
  </li>`
  );
}

const ROWS = { notification: Notification, call: Missed, "sign-in": SignIn, security: Security };

function Feed() {
  const { entries, isLoaded, error, hasMore, position, load, loadOlder } = useFeed();
  const unread = useUnread();
  const end = T(null);
  useTitle(t("Notifications"));
  const onReadAll = () => unread > 0 && store.notifications.readAll().catch(failed);
  A(() => onReturn(loadSecurity), []);
  A(() => {
    if (!end.current || !hasMore) return undefined;
    const watcher = new IntersectionObserver(([entry]) => entry.isIntersecting && loadOlder(), { rootMargin: "600px" });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [hasMore, position]);
  return html`<main class="page"><header class="row spread"><h1 tabindex="-1">${t("Notifications")}</h1>
      <div class="button-row"><button type="button" class="button" aria-disabled=${unread === 0} onClick=${onReadAll}>${t("Mark all as read")}</button>
        <button type="button" class="icon-button" aria-label=${t("Notification settings")} title=${t("Notification settings")}
          onClick=${() => navigate("/app/settings/notifications")}><${Icon} name="settings" /></button></div></header>
    ${error && html`<${Retry} error=${error} onRetry=${load} />`}
    ${!isLoaded && !error && html`<${Loading} />`}
    ${isLoaded && !hasMore && entries.length === 0 && html`<div class="nothing"><${Icon} name="bell" size=${40} /><p class="muted">${t("No notifications yet.")}</p></div>`}
    <ul class="feed" aria-label=${t("Notifications")}>${isLoaded && entries.map(({ kind, key, row }) => html`<${ROWS[kind]} key=${key} row=${row} />`)}</ul>
    <div ref=${end}></div>
  </main>`;
}

export { Feed as default };
