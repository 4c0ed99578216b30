// A recovery code in place of the second password.
import { parley } from "../client.js";
import { html } from "../html.js";
import { t, tn } from "../i18n.js";
import { notice } from "../ui/notices.js";
import { AuthPage, useFirstField } from "./auth_page.js";
import { Field, Form, Submit, useForm } from "./forms.js";
import { goOn } from "./signin.js";
import { StartAgain, useFirstStep } from "./two_step.js";

export default function Recovery({ query }) {
  useFirstStep();
  const form = useForm({ recovery_code: "" }, async (values) => {
    const { recovery_codes_left: left } = await parley.auth.twoStepForgot(values);
    notice(tn("{n} recovery code is left.", "{n} recovery codes are left.", left), { seconds: 20 });
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
