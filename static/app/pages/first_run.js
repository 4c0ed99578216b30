// In place of a conversation as long as a user has none: what to do first.
import { notificationState, turnNotificationsOn } from "../chat/desktop_notifications.js";
import { parley } from "../client.js";
import { html, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed } from "../lib/notices.js";
import { createStore, useStore } from "../lib/store.js";
import { stored } from "../lib/stored.js";
import { useTitle } from "../lib/title.js";
import { app } from "../state/app.js";
import { store } from "../state/store.js";
import { copyText } from "../ui/clipboard.js";
import { focusIfLost } from "../ui/focus.js";
import { Icon } from "../ui/icon.js";

const key = () => `parley.welcomed.${parley.session.userId}`;

const welcome = createStore({ isOver: false });

// Nobody has written yet, and it was not closed before.
export function useFirstRun() {
  const isEmpty = useStore(store.conversations, ({ conversations }) =>
    conversations?.every((row) => !row.last_message),
  );
  const isOver = useStore(welcome, (state) => state.isOver);
  return isEmpty && !isOver && !stored.getItem(key());
}

const focusSearch = () => /** @type {HTMLElement} */ (document.querySelector(".side input"))?.focus();

export function FirstRun() {
  useTitle(t("Chats"));
  const user = useStore(app, (state) => state.user);
  const [notifications, setNotifications] = useState(notificationState());
  const [copied, setCopied] = useState(false);
  const close = () => {
    stored.setItem(key(), "1");
    welcome.set({ isOver: true });
    focusSearch();
  };
  const copy = () => copyText(user.username).then(() => setCopied(true), failed);
  const outcome = useRef(null);
  const turnOn = () =>
    turnNotificationsOn().then((state) => {
      setNotifications(state);
      focusIfLost(outcome.current);
    }, failed);
  return html`<section class="conversation first-run" aria-labelledby="first-run"><div class="first-run-page">
    <h2 id="first-run">${t("Welcome, {name}", { name: user.first_name })}</h2>
    <ol class="steps">
      <li><${Icon} name="search" /><div><h3>${t("Find someone")}</h3>
        <p class="muted">${t("Search for a name or a username, and write the first message.")}</p>
        <button type="button" class="button" onClick=${focusSearch}>${t("Find people")}</button></div></li>
      <li><${Icon} name="user" /><div><h3>${t("Let others find you")}</h3>
        <p class="muted">${t("Tell them your username:")} <bdi class="own-name" dir="ltr">@${user.username}</bdi></p>
        <p class="button-row"><button type="button" class="button" onClick=${copy}>${t("Copy username")}</button>
          <a class="quiet-link" href="/app/settings/profile">${t("Change it, or add a picture")}</a>
          <span role="status" class="small muted">${copied && t("Copied")}</span></p></div></li>
      ${
        notifications !== "unsupported" &&
        html`<li><${Icon} name="bell" /><div><h3>${t("Notice new messages")}</h3>
        <p ref=${outcome} class="muted" role="status" tabindex="-1">${STATES[notifications]()}</p>
        ${notifications === "off" && html`<button type="button" class="button" onClick=${turnOn}>${t("Turn on notifications")}</button>`}</div></li>`
      }
    </ol>
    <p><button type="button" class="text-button" onClick=${close}>${t("Hide these steps")}</button></p>
  </div></section>`;
}

const STATES = {
  on: () => t("Notifications are on"),
  off: () => t("Get a notification while this window is in the background."),
  denied: () => t("This browser blocks notifications. Allow them in its settings for this page."),
};
