// A recovery code in place of the second password.
import { parley } from "../client.js";
import { html } from "../lib/html.js";
import { t, tn } from "../lib/i18n.js";
import { notice } from "../lib/notices.js";
import { Field, Form, Submit, useForm } from "../ui/forms.js";
import { AuthPage, useFirstField } from "./auth_page.js";
import { goOn } from "./signin.js";
import { StartAgain, useFirstStep } from "./two_step.js";

export default function Recovery({ query }) {
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
