// Frequent questions and keyboard shortcuts.
import { config } from "../config.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { app, useStore } from "../store.js";
import { useTitle } from "../title.js";

const answers = () => [
  [t("What do the ticks mean?"), t("One tick: the message has been sent. Two ticks: it has arrived. Two coloured ticks: it has been read.")],
  [t("Why do I not see whether a message was read?"), t("One of you has switched read receipts off in the settings. They work both ways.")],
  [t("I am offline. What happens to my messages?"), t("They wait in this browser and leave once, in order, as soon as you are back.")],
  [t("Who can find me?"), t("Whoever knows your name or username. Your e-mail is shown to no one. You decide in the settings who may write to you.")],
  [t("Who sees me when I call?"), t("Camera and microphone are used during a call only. With the relay switched on, the other person does not learn your address.")],
  [t("I have lost my second password."), t("Use one of your recovery codes, or let a code be sent to your e-mail when you sign in.")],
  [t("How do I leave?"), t("Under “Your data” in the settings: take a copy with you, then delete the account.")],
];

const keys = () => [
  ["Enter", t("Send the message")],
  ["Shift + Enter", t("Break the line")],
  ["↑", t("Edit the last message of yours")],
  ["Esc", t("End a reply or an edit, close a menu")],
  ["Tab", t("To the next control")],
];

export default function Help() {
  useTitle(t("Help"));
  const user = useStore(app, (state) => state.user);
  return html`<main class="page help">
    <h1 tabindex="-1">${t("Help")}</h1>
    ${answers().map(([question, answer]) => html`<section key=${question}><h2>${question}</h2><p>${answer}</p></section>`)}
    <section><h2>${t("Keys")}</h2>
      <dl>${keys().map(([key, text]) => html`<dt key=${key}><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl></section>
    <p class="button-row"><a class="button" href=${user ? "/app/chats" : "/app/"}>${user ? t("Chats") : t("To the start")}</a>
      <a class="button" href="/docs/">${t("For developers")}</a>
      ${config.developer && html`<a class="button" href="/dev/mail/">${t("Mailbox of this machine")}</a>`}</p>
  </main>`;
}
