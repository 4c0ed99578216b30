import { useStore, app, d, A, navigate, HOME, t, config, signOut, html, parley, loadProfile } from '../first.js';
import { useForm, Form, CodeField, Submit, Status, Field, digitsOf } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import '../alert.js';

// The code that proves an address.

function Verify({ query }) {
  const user = useStore(app, (state) => state.user);
  const known = query.email || user?.email || "";
  const [sent, setSent] = d("");
  const form = useForm({ email: known, code: "" }, async ({ email, code }) => {
    await parley.auth.verify({ email, code: digitsOf(code) });
    // Of a user who was signed in already; the others enter with the session.
    app.set(({ user: before }) => before && { user: { ...parley.session.user } });
    loadProfile();
    navigate(HOME, { replace: true });
  });
  const again = useForm({}, async () => {
    setSent("");
    setSent((await parley.auth.resendOtp({ email: form.values.email })).message);
  });
  const first = useFirstField();
  // Confirmed on another device, or in another tab, since this one learned of the account.
  A(() => {
    if (user?.is_verified) navigate(HOME, { replace: true });
  }, [user?.is_verified]);
  const lead = known && t("We have sent a code to {email}.", { email: known });
  return html`<${AuthPage} title=${t("Confirm your e-mail")} lead=${lead}
      after=${user && html`<button class="text-button" onClick=${() => signOut()}>${t("Sign out")}</button>`}>
    <div ref=${first}><${Form} form=${form}>
      ${!known && html`<${Field} label=${t("E-mail")} type="email" autocomplete="email" required ...${form.field("email")} />`}
      <${CodeField} hint=${t("No code? Check your spam folder, too.")} ...${form.field("code")} />
      <${Submit} form=${form} label=${t("Confirm")} />
    <//></div>
    <${Form} form=${again}>
      <${Status} text=${sent} />
      <${Submit} form=${again} label=${t("Send a new code")} kind="quiet" />
    <//>
    ${config.developer && html`<${Mailbox} email=${form.values.email} />`}
  <//>`;
}

// On a developer's machine mails go into a mailbox of their own.
function Mailbox({ email }) {
  return html`<p class="hint"><a href=${`/dev/mail/?to=${encodeURIComponent(email || "")}`} target="_blank" rel="noopener">
    ${t("Local mailbox")}</a></p>`;
}

export { Mailbox, Verify as default };
