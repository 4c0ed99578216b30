import { parley } from "../client.js";
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { navigate } from "../router.js";
import { Field, Form, Submit, useForm } from "../ui/forms.js";
import { AuthPage, useFirstField } from "./auth_page.js";

export default function Forgot({ query }) {
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
