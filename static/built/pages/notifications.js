import { useStore, w, T, useTitle, t, A, Retry, html, Loading, Icon, failed, ago, parley, tn, notice } from '../first.js';
import { store, removals, Avatar, nameOf, remove, focusIfLost } from './chats.js';

// The notifications: grouped, newest first, read and removed here.


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
    case "message":
      return tn("{n} new message from {name}", "{n} new messages from {name}", count, { name });
    default:
      return title ? t("{name}: {title}", { name, title }) : name;
  }
}

const buttonIn = (entry) => entry?.querySelector(".remove");

function Row({ row }) {
  const address =
    row.target?.type === "conversation"
      ? `/app/chats/${row.target.id}`
      : row.type.startsWith("follow")
        ? `/app/people/${row.actor.id}`
        : null;
  const place = `notification-${row.id}`;
  const onRemove = ({ currentTarget }) => {
    const entry = currentTarget.closest("li");
    // What has the focus goes away: it moves to an entry beside it, or to the heading.
    (buttonIn(entry.nextElementSibling ?? entry.previousElementSibling) ?? document.querySelector("main h1")).focus();
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
  const body = html`<span class="feed-text"><span dir="auto">${sentence(row)}</span>
    <span class="muted small"><time datetime=${row.created_at}>${ago(row.created_at, parley.now())}</time></span></span>`;
  return html`<li id=${place} class=${`feed-row ${row.is_read ? "" : "unread"}`}>
    <${Avatar} user=${row.actor} size="small" />
    ${address ? html`<a class="feed-link" href=${address} onClick=${seen}>${body}</a>` : html`<div class="feed-link">${body}</div>`}
    ${!row.is_read && html`<button type="button" class="icon-button" aria-label=${t("Mark as read")} title=${t("Mark as read")} onClick=${onRead}><${Icon} name="check" /></button>`}
    <button type="button" class="icon-button remove" aria-label=${t("Remove")} title=${t("Remove")} onClick=${onRemove}><${Icon} name="close" /></button>
    ${!row.is_read && html`<span class="visually-hidden">${t("unread")}</span>`}
  </li>`;
}

function Feed() {
  const { notifications, hasMore, error } = useStore(store.notifications);
  const removed = useStore(removals, ({ ids }) => ids);
  const rows = w(() => (notifications ?? []).filter(({ id }) => !removed.has(id)), [notifications, removed]);
  const { unread_count: unread } = useStore(store.unread);
  const end = T(null);
  useTitle(t("Notifications"));
  const onReadAll = () => unread > 0 && store.notifications.readAll().catch(failed);
  // What fails stands in the state.
  const load = () => store.notifications.load().catch(() => {});
  A(() => void load(), []);
  A(() => {
    if (!end.current || !hasMore) return undefined;
    const loadMore = () => store.notifications.loadOlder().catch(() => {});
    const watcher = new IntersectionObserver(([entry]) => entry.isIntersecting && loadMore(), { rootMargin: "600px" });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [hasMore, rows.length]);
  return html`<main class="page"><header class="row spread"><h1 tabindex="-1">${t("Notifications")}</h1>
      <button type="button" class="button" aria-disabled=${unread === 0} onClick=${onReadAll}>${t("Mark all as read")}</button></header>
    ${!notifications && error && html`<${Retry} error=${error} onRetry=${load} />`}
    ${!notifications && !error && html`<${Loading} />`}
    ${notifications && rows.length === 0 && html`<div class="nothing"><${Icon} name="bell" size=${40} /><p class="muted">${t("No notifications yet.")}</p></div>`}
    <ul class="feed" aria-label=${t("Notifications")}>${rows.map((row) => html`<${Row} key=${row.id} row=${row} />`)}</ul>
    <div ref=${end}></div>
  </main>`;
}

export { Feed as default };
