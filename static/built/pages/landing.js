import { useTitle, ICON, config, Icon, t, html, LANGUAGES, language, useLanguage, d, A, signInWindow, errorText } from '../first.js';
import { Alert } from '../forms.js';
import { NothingKept } from '../auth_page.js';

// The first page: try it as a demo user, sign in, or create an account.

const chooseLanguage = ({ currentTarget }) => useLanguage(currentTarget.value, { addresses: config.catalogs });

function Landing({ query }) {
  useTitle("");
  const { demo } = config;
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
    ${demo.length > 0 && html`<${Demo} people=${demo} wanted=${query.as} />`}
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

const OPEN = { Alice: () => t("Open as Alice"), Bob: () => t("Open as Bob") };

// Beside this window, as wide as half of the screen.
function openBeside(person) {
  const width = Math.max(360, Math.floor(screen.availWidth / 2));
  const place = `popup,noopener,width=${width},height=${screen.availHeight},left=${screen.availWidth - width},top=0`;
  open(`/app/?as=${person.name.toLowerCase()}`, "_blank", place);
}

function Demo({ people, wanted }) {
  const [problem, setProblem] = d("");
  const [busy, setBusy] = d(false);
  async function enter(person) {
    setBusy(true);
    setProblem("");
    try {
      await signInWindow({ email: person.email, password: person.password });
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  }
  A(() => {
    const person = people.find(({ name }) => name.toLowerCase() === wanted);
    if (person) enter(person);
  }, []);
  const [alice, bob] = people;
  const both = () => {
    openBeside(bob);
    enter(alice);
  };
  return html`<section class="card demo" aria-labelledby="demo-title">
    <h2 id="demo-title">${t("Try it now")}</h2>
    <p>${t("Alice and Bob are demo users. Open each in a window of its own, and let them talk side by side.")}</p>
    <p class="landing-actions">
      ${people
        .filter((person) => OPEN[person.name])
        .map(
          (person) => html`<button key=${person.name} class="button" disabled=${busy}
        onClick=${() => enter(person)}>${OPEN[person.name]()}</button>`,
        )}
      ${bob && html`<button class="button quiet" disabled=${busy} onClick=${both}>${t("Both side by side")}</button>`}
    </p>
    <${NothingKept} />
    <${Alert} text=${problem} />
  </section>`;
}

export { Landing as default };
