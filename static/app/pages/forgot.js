import { parley } from "../client.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { navigate } from "../router.js";
import { AuthPage, useFirstField } from "./auth_page.js";
import { Field, Form, Submit, useForm } from "./forms.js";

export default function Forgot({ query }) {
  const form = useForm({ email: query.email || "" }, async ({ email }) => {
    await parley.auth.forgotPassword({ email });
    navigate(`/app/reset?email=${encodeURIComponent(email.trim())}`);
  });
  const first = useFirstField();
  return html`<${AuthPage} title=${t("Forgot password?")} lead=${t("We send a code to your e-mail address. Use it to choose a new password.")}
      after=${html`<a href="/app/sign-in">${t("Sign in")}</a>`}>
    <div ref=${first}><${Form} form=${form}>
      <${Field} label=${t("E-mail")} type="email" autocomplete="username" required ...${form.field("email")} />
      <${Submit} form=${form} label=${t("Send the code")} />
    <//></div>
  <//>`;
}
