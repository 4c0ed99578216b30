// One message of the log. Redrawn only when something about it changes.
import { parley } from "../client.js";
import { html, useRef, useState } from "../lib/html.js";
import { dateTime, duration, t, time } from "../lib/i18n.js";
import { focusIfLost } from "../ui/focus.js";
import { Icon } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { Pure } from "../ui/pure.js";
import { EmojiPicker, FIRST } from "./emoji.js";
import { Image, Upload } from "./image.js";
import { callIcon, callText, previewText } from "./preview.js";
import { Text } from "./text.js";

const statusText = (status) =>
  ({ sending: t("Sending"), failed: t("Not sent"), sent: t("Sent"), delivered: t("Delivered"), read: t("Read") })[
    status
  ];
const TICKS = {
  sending: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.2l2.8 1.8",
  failed: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v5M12 16v.1",
  sent: "M5 12.5l4.5 4.5L19 7.5",
  delivered: "M2 12.5l4.5 4.5L16 7.5M11.5 16l1 1L22 7.5",
  read: "M2 12.5l4.5 4.5L16 7.5M11.5 16l1 1L22 7.5",
};

function Status({ status }) {
  const text = statusText(status);
  return html`<span class=${`status ${status}`} role="status" aria-live="off" aria-label=${text} title=${text}>
    <svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true"><path d=${TICKS[status]} /></svg>
    <span class="visually-hidden">${text}</span></span>`;
}

function Quote({ message, names, onJump }) {
  const { reply_to: reply } = message;
  if (!message.reply_to_id) return null;
  if (!reply) return html`<p class="quote gone">${t("Deleted message")}</p>`;
  return html`<button type="button" class="quote" onClick=${() => onJump(reply.id)} aria-label=${t("Go to the original message")}>
    ${reply.thumb_url && html`<img src=${parley.mediaUrl(reply.thumb_url)} alt="" width="36" height="36" loading="lazy" />`}
    <span class="quote-lines"><b>${names(reply.sender_id)}</b><span dir="auto">${previewText(reply)}</span></span></button>`;
}

function CallEntry({ message, own, tabindex, actions }) {
  const { call } = message;
  const icon = callIcon(call);
  return html`<p class="call-entry"><${Icon} name=${icon} />
    <span>${callText(call, message.body, own)}${call?.duration_s ? html` <span class="muted">${duration(call.duration_s)}</span>` : ""}</span>
    <button type="button" class="icon-button" tabindex=${tabindex} disabled=${actions.blocked} aria-label=${t("Repeat this call")} title=${t("Repeat this call")}
      onClick=${() => actions.call(call?.media ?? "audio")}><${Icon} name="redial" /></button></p>`;
}

function Reactions({ message, me, names, onReact, disabled }) {
  if (message.reactions.length === 0) return null;
  const toggle = async (emoji, article) => {
    await onReact(message, emoji);
    focusIfLost(article);
  };
  return html`<div class="reactions">${message.reactions.map(
    ({ emoji, count, user_ids: users }) => html`<button key=${emoji} type="button" class="reaction"
    disabled=${disabled} aria-pressed=${users.includes(me) ? "true" : "false"} title=${users.map(names).join(", ")} 
    onClick=${({ currentTarget }) => toggle(emoji, currentTarget.closest("article"))}>${emoji}<span>${count}</span></button>`,
  )}</div>`;
}

function Actions({ message, own, tabindex, actions }) {
  const [picking, setPicking] = useState(null);
  const button = useRef(null);
  const react = (anchor) => {
    button.current = anchor;
    setPicking(anchor);
  };
  const close = (withFocus) => {
    setPicking(null);
    if (withFocus) button.current?.focus({ preventScroll: true });
  };
  const pick = (emoji) => {
    close(true);
    actions.react(message, emoji);
  };
  const can = !actions.blocked;
  const items = [
    ...(can ? FIRST : []).map((emoji) => ({ label: emoji, isShort: true, act: () => actions.react(message, emoji) })),
    can && { label: t("Reply"), icon: "reply", act: () => actions.reply(message) },
    can && { label: t("React"), icon: "smile", act: react },
    can && own && message.kind !== "call" && { label: t("Edit"), icon: "edit", act: () => actions.edit(message) },
    message.body && { label: t("Copy text"), icon: "copy", act: () => actions.copy(message) },
    !own && { label: t("Report"), icon: "flag", act: () => actions.report(message) },
    own && { label: t("Delete"), icon: "trash", danger: true, act: () => actions.remove(message) },
  ];
  return html`<${Menu} label=${t("Message actions")} className="message-actions" items=${items} tabindex=${tabindex} />
    ${picking && html`<${EmojiPicker} anchor=${picking} onPick=${pick} onClose=${close} />`}`;
}

export class Message extends Pure {
  static keys = ["message", "status", "continues", "current", "marked", "wanted", "names", "actions"];

  render({ rowKey, message, own, status, continues, current, marked, wanted, names, actions }) {
    const tabindex = current ? 0 : -1;
    const name = own ? t("You") : names(message.sender_id);
    const classes = ["message", own ? "own" : "", continues ? "continues" : "", marked ? "marked" : ""].join(" ");
    const label = t("{name}, {time}", { name, time: time(message.created_at) });
    // The browser's own menu stays for links and for text that is selected.
    const onContextMenu = (event) => {
      if (event.target.closest("a, .popup") || String(getSelection())) return;
      event.preventDefault();
      event.currentTarget.querySelector(".message-actions").click();
    };
    // On text, a double click selects a word.
    const onDblClick = (event) =>
      !actions.blocked && !event.target.closest("button, a, .text, .popup") && actions.reply(message);
    return html`<article class=${classes} data-key=${rowKey} data-message-id=${message.id} tabindex=${tabindex} aria-label=${label}
        onContextMenu=${onContextMenu} onDblClick=${onDblClick}>
      <div class="bubble-line">
        <div class="bubble">
          <${Quote} message=${message} names=${names} onJump=${actions.jump} />
          ${message.kind === "image" && message.media && html`<${Image} message=${message} name=${name} onOpen=${actions.view} />`}
          ${message.kind === "call" ? html`<${CallEntry} message=${message} own=${own} tabindex=${tabindex} actions=${actions} />` : message.body && html`<${Text} body=${message.body} wanted=${wanted} />`}
          <p class="meta">${message.is_edited && html`<span>${t("edited")}</span>`}
            <time datetime=${message.created_at} title=${dateTime(message.created_at)}>${time(message.created_at)}</time>${own && html`<${Status} status=${status} />`}</p>
        </div>
        <${Actions} message=${message} own=${own} tabindex=${tabindex} actions=${actions} />
      </div>
      <${Reactions} message=${message} me=${actions.me} names=${names} onReact=${actions.react} disabled=${actions.blocked} />
    </article>`;
  }
}

const REFUSED = [400, 413, 415, 422];

// A message that has not arrived yet.
export function Pending({ rowKey, item, continues }) {
  const isFailed = item.state === "failed";
  // The same content would be refused again.
  const isFinal = isFailed && REFUSED.includes(item.error?.status);
  // The button that was pressed goes: the log takes its focus.
  const run =
    (act) =>
    ({ currentTarget }) => {
      const log = currentTarget.closest("[role=log]");
      act(item.client_id);
      focusIfLost(log);
    };
  return html`<article class=${`message own ${continues ? "continues" : ""} ${isFailed ? "failed" : ""}`} data-key=${rowKey} data-client-id=${item.client_id}
      aria-label=${t("{name}, {time}", { name: t("You"), time: time(item.created_at) })}>
    <div class="bubble-line"><div class="bubble">
      ${item.file && html`<${Upload} item=${item} />`}
      ${item.body && html`<${Text} body=${item.body} />`}
      <p class="meta"><time datetime=${item.created_at}>${time(item.created_at)}</time><${Status} status=${isFailed ? "failed" : "sending"} /></p>
    </div></div>
    ${
      (isFailed || item.file) &&
      html`<p class="pending-actions">
      ${isFailed && html`<span class="danger-text small">${item.error?.message || t("Not sent")}</span>`}
      ${isFailed && !isFinal && html`<button type="button" class="text-button" onClick=${run((id) => parley.outbox.retry(id))}>${t("Send again")}</button>`}
      <button type="button" class="text-button" onClick=${run((id) => parley.outbox.remove(id))}>${isFinal ? t("Remove") : isFailed ? t("Discard") : t("Cancel")}</button></p>`
    }
  </article>`;
}
