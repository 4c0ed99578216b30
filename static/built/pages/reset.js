import { t, LIMITS, config, html, parley, navigate } from '../first.js';
import { useForm, Form, CodeField, PasswordField, Submit, Username, Field, digitsOf } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import { Mailbox } from './verify.js';
import '../alert.js';

function Reset({ query }) {
  const known = query.email || "";
  const form = useForm({ email: known, code: "", new_password: "" }, async ({ email, code, new_password }) => {
    await parley.auth.verifyReset({ email, code: digitsOf(code), new_password });
    navigate(`/app/sign-in?reset=1&email=${encodeURIComponent(email)}`, { replace: true });
  });
  const first = useFirstField();
  const lead = known && t("If {email} has an account, we have sent a code to it.", { email: known });
  return html`<${AuthPage} title=${t("Choose a new password")} lead=${lead} after=${html`<a href=${`/app/forgot?email=${encodeURIComponent(form.values.email)}`}>${t("Send a new code")}</a>`}>
    <div ref=${first}><${Form} form=${form}>
      ${known ? html`<${Username} email=${known} />` : html`<${Field} label=${t("E-mail")} type="email" autocomplete="username" required ...${form.field("email")} />`}
      <${CodeField} hint=${t("No code? Check your spam folder, too.")} ...${form.field("code")} />
      <${PasswordField} label=${t("New password")} autocomplete="new-password" required minlength=${LIMITS.leastPasswordLength}
        hint=${t("At least {n} characters. You'll be signed out everywhere.", { n: LIMITS.leastPasswordLength })} ...${form.field("new_password")} />
      <${Submit} form=${form} label=${t("Set the new password")} />
    <//></div>
    ${config.developer && html`<${Mailbox} email=${form.values.email} />`}
  <//>`;
}

export { Reset as default };
