import { d, A, config, t, html, errorText, signInWindow, HOME, useTitle, ICON, Icon, LANGUAGES, language, useLanguage } from '../first.js';
import { Alert } from '../alert.js';
import { NothingKept } from '../auth_page.js';

// On a developer's machine: the demo users, each one click away.

const people = config.demo;
const OPEN = { Alice: () => t("Open as Alice"), Bob: () => t("Open as Bob") };
const addressOf = (person) => `/app/?as=${person.name.toLowerCase()}`;

// The conversation of the two.
async function findConversation(client, other) {
  const { conversations } = await client.messages.listConversations();
  const row = conversations.find(({ other_user: { first_name: name } }) => name === other?.name);
  return row ? `/app/chats/${row.id}` : HOME;
}

function enter(person) {
  const other = people.find(({ name }) => name !== person.name);
  const login = { email: person.email, password: person.password };
  return signInWindow(login, (client) => findConversation(client, other).catch(() => HOME));
}

// One of two halves of the screen. Null where the browser does not let a page open it.
function openHalf(person) {
  const { availLeft = 0, availTop = 0, availWidth, availHeight } = /** @type {any} */ (screen);
  const width = Math.floor(availWidth / 2);
  const left = availLeft + (people.indexOf(person) ? availWidth - width : 0);
  const place = `popup,width=${width},height=${availHeight},left=${left},top=${availTop}`;
  return open(addressOf(person), `parley-${person.name}`, place);
}

function Demo({ wanted }) {
  const [problem, setProblem] = d("");
  const [busy, setBusy] = d(false);
  // Whose window the browser has not opened; null before that.
  const [missing, setMissing] = d(null);
  async function here(person) {
    setBusy(true);
    setProblem("");
    try {
      await enter(person);
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  }
  A(() => {
    const person = people.find(({ name }) => name.toLowerCase() === wanted);
    if (person) here(person);
  }, []);
  const openFrom = (event, person) => {
    // Without it, the link opens a tab.
    if (openHalf(person)) event.preventDefault();
    setMissing((rest) => rest.filter((one) => one !== person));
  };
  return html`<section class="card demo" aria-labelledby="demo-title">
    <h2 id="demo-title">${t("Try it now")}</h2>
    <p>${t("Alice and Bob are demo users who have a conversation. Write as one of them, and read as the other.")}</p>
    <p class="landing-actions">
      ${people.map(
        (person) => html`<button key=${person.name} class="button" disabled=${busy}
        onClick=${() => here(person)}>${OPEN[person.name]()}</button>`,
      )}
      ${people.length > 1 && html`<button class="button quiet both" disabled=${busy} onClick=${() => setMissing(people.filter((person) => !openHalf(person)))}>${t("Both side by side")}</button>`}
    </p>
    <div class="demo-windows" aria-live="polite">${
      missing &&
      html`<p class="hint">${missing.length ? t("The browser has not opened every window. Open the rest here:") : t("Both windows are open.")}</p>
      ${missing.map((person) => html`<a key=${person.name} class="button" href=${addressOf(person)} target="_blank" rel="noopener" onClick=${(event) => openFrom(event, person)}>${OPEN[person.name]()}</a>`)}`
    }</div>
    <${NothingKept} />
    <${Alert} text=${problem} />
  </section>`;
}

// The first page: what it looks like, try it as a demo user, sign in, or create an account.

const chooseLanguage = ({ currentTarget }) => useLanguage(currentTarget.value, { addresses: config.catalogs });

function Landing({ query }) {
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
  const [isWanted, setWanted] = d(false);
  const [isThere, setThere] = d(false);
  A(() => {
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

export { Landing as default };
