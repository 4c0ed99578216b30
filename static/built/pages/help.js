import { useTitle, t, useStore, app, config, html } from '../first.js';

// Frequent questions and keyboard shortcuts.

const answers = () => [
  [
    t("What do the ticks mean?"),
    t("One tick: the message has been sent. Two ticks: it has been delivered. Two blue ticks: it has been read."),
  ],
  [
    t("Why do I not see whether a message was read?"),
    t("One of you has turned off read receipts in the settings. They work both ways."),
  ],
  [
    t("I am offline. What happens to my messages?"),
    t("They are kept in this browser and sent once, in order, as soon as you are back online."),
  ],
  [
    t("Who can find me?"),
    t(
      "Anyone who knows your name or username. Your e-mail is not shown to anyone. You decide in the settings who may write to you.",
    ),
  ],
  [
    t("Who sees me when I call?"),
    t(
      "Camera and microphone are used only during a call. With the relay turned on, the other person does not see your IP address.",
    ),
  ],
  [
    t("I have lost my second password."),
    t("Use one of your recovery codes, or have a code sent to your e-mail address when you sign in."),
  ],
  [t("How do I delete my account?"), t("Under “Your data” in the settings: download a copy, then delete the account.")],
];

const keys = () => [
  ["Enter", t("Send the message")],
  ["Shift + Enter", t("New line")],
  ["↑", t("Edit your last message")],
  ["Ctrl + K", t("Search people")],
  ["Alt + ↓ ↑", t("Next and previous chat")],
  ["Esc", t("Cancel a reply or an edit, close a menu")],
  ["Tab", t("Move to the next control")],
];

function Help() {
  useTitle(t("Help"));
  const user = useStore(app, (state) => state.user);
  return html`<main class="page help">
    <h1 tabindex="-1">${t("Help")}</h1>
    ${answers().map(([question, answer]) => html`<section key=${question}><h2>${question}</h2><p>${answer}</p></section>`)}
    <section><h2>${t("Keyboard shortcuts")}</h2>
      <dl>${keys().map(([key, text]) => html`<dt key=${key}><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl></section>
    <p class="button-row"><a class="button" href=${user ? "/app/chats" : "/app/"}>${user ? t("Chats") : t("Start page")}</a>
      <a class="button" href="/docs/">${t("For developers")}</a>
      ${config.developer && html`<a class="button" href="/dev/mail/">${t("Local mailbox")}</a>`}</p>
  </main>`;
}

export { Help as default };
