import { t, html, parley, navigate } from '../first.js';
import { useForm, Form, Field, Submit } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import '../alert.js';

function Forgot({ query }) {
  const form = useForm({ email: query.email || "" }, async ({ email }) => {
    await parley.auth.forgotPassword({ email });
    navigate(`/app/reset?email=${encodeURIComponent(email.trim())}`);
  });
  const first = useFirstField();
  return html`<${AuthPage} title=${t("Forgot password?")} lead=${t("We'll e-mail you a code so you can choose a new password.")}
      after=${html`<a href="/app/sign-in">${t("Sign in")}</a>`}>
    <div ref=${first}><${Form} form=${form}>
      <${Field} label=${t("E-mail")} type="email" autocomplete="username" required ...${form.field("email")} />
      <${Submit} form=${form} label=${t("Send the code")} />
    <//></div>
  <//>`;
}

export { Forgot as default };
