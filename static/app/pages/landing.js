// The first page: what it looks like, try it as a demo user, sign in, or create an account.
import { config, ICON } from "../config.js";
import { html, useEffect, useState } from "../lib/html.js";
import { LANGUAGES, language, t, useLanguage } from "../lib/i18n.js";
import { useTitle } from "../lib/title.js";
import { Icon } from "../ui/icon.js";
import { Demo } from "./demo.js";

const chooseLanguage = ({ currentTarget }) => useLanguage(currentTarget.value, { addresses: config.catalogs });

export default function Landing({ query }) {
  useTitle("");
  return html`<main class="landing">
    <div class="landing-text">
      <p class="landing-brand"><img src=${ICON} alt="" width="48" height="48" /><span>${config.product}</span></p>
      <h1 tabindex="-1">${t("Talk to one person at a time")}</h1>
      <p class="lead">${t("Messages, pictures, voice and video calls.")}</p>
      <p class="landing-actions">
        <a class="button primary" href="/app/sign-up">${t("Create account")}</a>
        <a class="button" href="/app/sign-in">${t("Sign in")}</a>
      </p>
    </div>
    <${Picture} />
    ${config.demo.length > 0 && html`<${Demo} wanted=${query.as} />`}
    <ul class="landing-facts">
      <li><${Icon} name="chats" /><span>${t("Sent, delivered, read: see the status of each message.")}</span></li>
      <li><${Icon} name="camera" /><span>${t("Calls go directly from one person to the other.")}</span></li>
      <li><${Icon} name="block" /><span>${t("You decide who may write to you.")}</span></li>
    </ul>
    <footer class="landing-footer">
      <a href="/app/help">${t("Help")}</a> <a href="/docs/">${t("For developers")}</a>
      <select class="input" aria-label=${t("Language")} onChange=${chooseLanguage}>
        ${LANGUAGES.map(([code, name]) => html`<option key=${code} value=${code} lang=${code} selected=${code === language()}>${name}</option>`)}</select>
    </footer>
  </main>`;
}

// After all that the page needs: who signs in at once does not load it.
const PICTURE_MS = 500;

// A conversation, in the language and the colours of the page. The one of the other colours is not loaded.
function Picture() {
  const [isWanted, setWanted] = useState(false);
  const [isThere, setThere] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWanted(true), PICTURE_MS);
    return () => clearTimeout(timer);
  }, []);
  const alt = t("A conversation: messages with their times and ticks, and the list of chats beside it");
  return html`<div class=${`landing-picture ${isThere ? "there" : ""}`}>${
    isWanted &&
    Object.entries(config.pictures[language()]).map(
      ([scheme, address]) =>
        html`<img key=${address} class=${scheme} src=${address} alt=${alt} width="760" height="540" loading="lazy" onLoad=${() => setThere(true)} />`,
    )
  }</div>`;
}
