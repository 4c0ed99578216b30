import { d, t, html, parley, A, navigate, SIGN_IN } from '../first.js';
import { useForm, Form, SecondPasswordField, Checkbox, Submit, Status } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import { goOn } from './signin.js';
import '../alert.js';

// The second step of a sign-in: the second password, or a code by e-mail in its place.

// Without a first step there is no second one.
function useFirstStep() {
  const pending = parley.session.twoStep;
  A(() => {
    if (!pending && !parley.session.isSignedIn) navigate(SIGN_IN, { replace: true });
  }, []);
  return pending;
}

function StartAgain() {
  const back = (event) => {
    event.preventDefault();
    parley.session.cancelTwoStep();
    navigate(SIGN_IN);
  };
  return html`<a href="/app/sign-in" onClick=${back}>${t("Back to sign-in")}</a>`;
}

function TwoStep({ query }) {
  const pending = useFirstStep();
  const [sent, setSent] = d("");
  const form = useForm({ password: "", remember: false }, async (values) => {
    await parley.auth.twoStep(values);
    goOn(query);
  });
  const mail = useForm({}, async () => {
    setSent("");
    const { message } = await parley.auth.twoStepResend();
    setSent(`${message} ${t("If the e-mail has a code, enter it instead of your second password.")}`);
  });
  const first = useFirstField();
  const hint = pending?.hint ? t("Hint: {hint}", { hint: pending.hint }) : "";
  return html`<${AuthPage} title=${t("Two-step verification")} lead=${t("Enter your second password to continue.")}
      after=${html`<${StartAgain} />`}>
    <div ref=${first}><${Form} form=${form}>
      <${SecondPasswordField} label=${t("Second password")} required hint=${hint} ...${form.field("password")} />
      <${Checkbox} label=${t("Remember this device")} ...${form.box("remember")} />
      <${Submit} form=${form} label=${t("Sign in")} />
      <a class="quiet-link" href=${`/app/recovery${location.search}`}>${t("Use a recovery code")}</a>
    <//></div>
    <${Form} form=${mail}>
      <${Status} text=${sent} />
      <${Submit} form=${mail} label=${t("Send a code by e-mail")} kind="quiet" />
    <//>
  <//>`;
}

export { StartAgain, TwoStep as default, useFirstStep };
