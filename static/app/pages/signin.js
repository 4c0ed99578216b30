import { nextPage } from "../addresses.js";
import { parley } from "../client.js";
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { navigate } from "../router.js";
import { Field, Form, PasswordField, Status, Submit, useForm } from "../ui/forms.js";
import { AuthPage, useFirstField } from "./auth_page.js";

// What follows a sign-in: the second step, the code for an address that is not confirmed yet, or the page that was asked for.
export function goOn(query) {
  const { user } = parley.session;
  navigate(user.is_verified ? nextPage(query) : `/app/verify?email=${encodeURIComponent(user.email)}`, {
    replace: true,
  });
}

export default function SignIn({ query }) {
  const form = useForm({ email: query.email || "", password: "" }, async ({ email, password }) => {
    const reply = await parley.auth.login({ email, password });
    if ("two_step_required" in reply) navigate(`/app/two-step${location.search}`, { replace: true });
    else goOn(query);
  });
  const first = useFirstField();
  return html`<${AuthPage} title=${t("Sign in")}
      after=${html`${t("New here?")} <a href="/app/sign-up">${t("Create account")}</a>`}>
    ${query.reset && html`<${Status} text=${t("Your password has been changed. Sign in with the new one.")} />`}
    <div ref=${first}><${Form} form=${form}>
      <${Field} label=${t("E-mail")} type="email" autocomplete="username" required ...${form.field("email")} />
      <${PasswordField} label=${t("Password")} autocomplete="current-password" required ...${form.field("password")} />
      <${Submit} form=${form} label=${t("Sign in")} />
      <a class="quiet-link" href=${`/app/forgot?email=${encodeURIComponent(form.values.email)}`}>${t("Forgot password?")}</a>
    <//></div>
  <//>`;
}
