import { LIMITS } from "../../sdk/parley/limits.js";
import { parley } from "../client.js";
import { config } from "../config.js";
import { html } from "../lib/html.js";
import { LANGUAGES, language, t, useLanguage } from "../lib/i18n.js";
import { navigate } from "../router.js";
import { Field, Form, PasswordField, Select, Submit, useForm } from "../ui/forms.js";
import { AuthPage, useFirstField } from "./auth_page.js";

export default function SignUp() {
  const initial = { first_name: "", last_name: "", email: "", password: "", language: language() };
  const form = useForm(initial, async (values) => {
    await parley.auth.signup(values);
    navigate(`/app/verify?email=${encodeURIComponent(values.email.trim())}`);
  });
  const onLanguage = ({ currentTarget }) => {
    form.set("language", currentTarget.value);
    useLanguage(currentTarget.value, { addresses: config.catalogs });
  };
  const first = useFirstField();
  return html`<${AuthPage} title=${t("Create account")}
      after=${html`${t("Already have an account?")} <a href="/app/sign-in">${t("Sign in")}</a>`}>
    <div ref=${first}><${Form} form=${form}>
      <div class="two-fields">
        <${Field} label=${t("First name")} autocomplete="given-name" maxlength=${LIMITS.nameLength} required ...${form.field("first_name")} />
        <${Field} label=${t("Last name")} autocomplete="family-name" maxlength=${LIMITS.nameLength} required ...${form.field("last_name")} />
      </div>
      <${Field} label=${t("E-mail")} type="email" autocomplete="username" required ...${form.field("email")} />
      <${PasswordField} label=${t("Password")} autocomplete="new-password" required minlength=${LIMITS.leastPasswordLength} hint=${t("At least {n} characters.", { n: LIMITS.leastPasswordLength })}
        ...${form.field("password")} />
      <${Select} label=${t("Language")} options=${LANGUAGES} hint=${t("Used for e-mails and for these pages.")} ...${form.field("language")}
        onInput=${null} onChange=${onLanguage} />
      <${Submit} form=${form} label=${t("Create account")} />
    <//></div>
  <//>`;
}
