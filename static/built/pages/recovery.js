import { t, html, parley, notice, tn } from '../first.js';
import { useForm, Form, Field, Submit } from '../forms.js';
import { useFirstField, AuthPage } from '../auth_page.js';
import { goOn } from './signin.js';
import { useFirstStep, StartAgain } from './two_step.js';
import '../alert.js';

// A recovery code in place of the second password.

function Recovery({ query }) {
  useFirstStep();
  const form = useForm({ recovery_code: "" }, async (values) => {
    const { recovery_codes_left: left } = await parley.auth.twoStepForgot(values);
    notice(tn("You have {n} recovery code left.", "You have {n} recovery codes left.", left), { seconds: 20 });
    goOn(query);
  });
  const first = useFirstField();
  return html`<${AuthPage} title=${t("Recovery code")} lead=${t("Each of your recovery codes works once.")} after=${html`<${StartAgain} />`}>
    <div ref=${first}><${Form} form=${form}>
      <${Field} label=${t("Recovery code")} class="input code-input" dir="ltr" autocomplete="off" spellcheck=${false} required
        ...${form.field("recovery_code")} />
      <${Submit} form=${form} label=${t("Sign in")} />
      <a class="quiet-link" href=${`/app/two-step${location.search}`}>${t("Use the second password")}</a>
    <//></div>
  <//>`;
}

export { Recovery as default };
