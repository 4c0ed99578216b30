import { language, LIMITS, LANGUAGES, t, html, useLanguage, config, parley, navigate } from '../first.js';
import { useForm, Form, Field, PasswordField, Select, Submit } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import '../alert.js';

function SignUp() {
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

export { SignUp as default };
