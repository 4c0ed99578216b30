import { LIMITS } from "../../../sdk/parley/limits.js";
import { parley } from "../../client.js";
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { notice } from "../../lib/notices.js";
import { Dialog } from "../../ui/dialog.js";
import { CodeField, digitsOf, Field, Form, PasswordField, Submit, Username, useForm } from "../../ui/forms.js";
import { ActionDialog } from "./action_dialog.js";
import { TwoStep } from "./two_step.js";

export function Security({ profile, update }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  return html`<div class="action-row"><p><strong>${t("Password")}</strong>
      <span class="hint">${t("Changing it signs out all other browsers and apps.")}</span></p>
      <button class="button" onClick=${() => setOpen("password")}>${t("Change password")}</button></div>
    <div class="action-row"><p><strong>${t("E-mail")}</strong><span class="hint"><bdi>${profile.email}</bdi></span></p>
      <button class="button" onClick=${() => setOpen("email")}>${t("Change e-mail")}</button></div>
    <${TwoStep} profile=${profile} />
    ${open === "password" && html`<${PasswordDialog} email=${profile.email} onClose=${close} />`}
    ${open === "email" && html`<${EmailDialog} current=${profile.email} update=${(email) => update({ ...profile, email })} onClose=${close} />`}`;
}

const samePassword = (values) =>
  values.new_password === values.current_password ? { new_password: t("This is already your password.") } : {};

function PasswordDialog({ email, onClose }) {
  const fields = (form) => html`<${Username} email=${email} />
    <${PasswordField} label=${t("Current password")} autocomplete="current-password" required ...${form.field("current_password")} />
    <${PasswordField} label=${t("New password")} autocomplete="new-password" required minlength=${LIMITS.leastPasswordLength} hint=${t("At least {n} characters.", { n: LIMITS.leastPasswordLength })}
      ...${form.field("new_password")} />`;
  const done = () => {
    notice(t("Your password is changed. All other browsers and apps are signed out."));
    onClose();
  };
  return html`<${ActionDialog} title=${t("Change password")} action="change_password" label=${t("Change password")}
    initial=${{ current_password: "", new_password: "" }} fields=${fields} check=${samePassword} run=${(values) => parley.auth.changePassword(values)}
    onDone=${done} onClose=${onClose} />`;
}

// Two codes: one to the old address, which allows the change, and one to the new address, which proves it.
function EmailDialog({ current, update, onClose }) {
  const [email, setEmail] = useState(null);
  const form = useForm({ code: "" }, async ({ code }) => {
    await parley.auth.changeEmailVerify({ code: digitsOf(code) });
    update(email);
    notice(t("Your e-mail is now {email}.", { email }));
    onClose();
  });
  if (!email) {
    const fields = (fieldsOf) =>
      html`<${Field} label=${t("New e-mail")} type="email" autocomplete="email" required ...${fieldsOf.field("email")} />`;
    const sameAddress = (values) =>
      values.email.trim().toLowerCase() === current.toLowerCase()
        ? { email: t("This is already your e-mail address.") }
        : {};
    const run = async (values) => {
      await parley.auth.changeEmail(values);
      return values.email.trim();
    };
    return html`<${ActionDialog} key="old" title=${t("Change e-mail")} action="change_email" label=${t("Change e-mail")} initial=${{ email: "" }}
      lead=${t("We'll e-mail a code to your current address first, then one to the new address.")} fields=${fields} check=${sameAddress} run=${run}
      onDone=${setEmail} onClose=${onClose} />`;
  }
  return html`<${Dialog} key="new" title=${t("Change e-mail")} onClose=${onClose}>
    <${Form} form=${form}>
      <p>${t("We have sent a code to {email}.", { email })}</p>
      <${CodeField} ...${form.field("code")} />
      <${Submit} form=${form} label=${t("Confirm")} />
    <//>
  <//>`;
}
