import { t, html, parley, navigate, nextPage } from '../first.js';
import { useForm, Form, Field, PasswordField, Submit, Status } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import '../alert.js';

// What follows a sign-in: the second step, the code for an address that is not confirmed yet, or the page that was asked for.
function goOn(query) {
  const { user } = parley.session;
  navigate(user.is_verified ? nextPage(query) : `/app/verify?email=${encodeURIComponent(user.email)}`, {
    replace: true,
  });
}

function SignIn({ query }) {
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

export { SignIn as default, goOn };
