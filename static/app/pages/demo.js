// On a developer's machine: the demo users, each one click away.
import { HOME } from "../addresses.js";
import { config } from "../config.js";
import { html, useEffect, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { errorText } from "../lib/notices.js";
import { signInWindow } from "../session.js";
import { Alert } from "../ui/alert.js";
import { NothingKept } from "./auth_page.js";

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

export function Demo({ wanted }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  // Whose window the browser has not opened; null before that.
  const [missing, setMissing] = useState(null);
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
  useEffect(() => {
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
