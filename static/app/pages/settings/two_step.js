import { LIMITS } from "../../../sdk/parley/limits.js";
// The second password: on, changed, off, and the recovery codes.
import { parley } from "../../client.js";
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { t, tn } from "../../lib/i18n.js";
import { failed, notice } from "../../lib/notices.js";
import { copyText } from "../../ui/clipboard.js";
import { Dialog } from "../../ui/dialog.js";
import { focusIfLost, onReturn } from "../../ui/focus.js";
import { Field, SecondPasswordField } from "../../ui/forms.js";
import { ActionDialog } from "./action_dialog.js";

export function TwoStep() {
  const [status, setStatus] = useState(null);
  const [open, setOpen] = useState(null);
  const [codes, setCodes] = useState(null);
  const load = (onError = failed) => parley.auth.twoStepStatus().then(setStatus, onError);
  useEffect(() => {
    load();
    return onReturn(() => load(() => {}));
  }, []);
  const close = () => setOpen(null);
  // Others stand in the place of the buttons then.
  const buttons = useRef(null);
  const done = (text) => (reply) => {
    close();
    notice(text);
    if (reply.recovery_codes) setCodes(reply.recovery_codes);
    load().then(() => focusIfLost(buttons.current?.querySelector("button")));
  };
  if (!status) return null;
  const Action = DIALOGS[open];
  return html`<div class="action-row"><p><strong>${t("Two-step verification")}</strong>
      <span class="hint">${
        status.enabled
          ? tn(
              "On. You have {n} recovery code left.",
              "On. You have {n} recovery codes left.",
              status.recovery_codes_left,
            )
          : t("Off. If you turn it on, signing in on a new device also asks for a second password.")
      }</span></p>
      <div class="button-row" ref=${buttons}>${
        status.enabled
          ? html`<button class="button" onClick=${() => setOpen("change")}>${t("Change second password")}</button>
            <button class="button" onClick=${() => setOpen("codes")}>${t("New recovery codes")}</button>
            <button class="button danger" onClick=${() => setOpen("disable")}>${t("Turn off two-step verification")}</button>`
          : html`<button class="button" onClick=${() => setOpen("enable")}>${t("Turn on two-step verification")}</button>`
      }</div></div>
    ${Action && html`<${Action} status=${status} done=${done} onClose=${close} />`}
    ${codes && html`<${RecoveryCodes} codes=${codes} onClose=${() => setCodes(null)} />`}`;
}

const NEW = { required: true, minlength: LIMITS.leastPasswordLength };

// As far as it tells without the server's measure of what resembles it.
const revealed = (name) => (values) =>
  values[name] && values.hint.toLowerCase().includes(values[name].toLowerCase())
    ? { hint: t("This hint reveals the password.") }
    : {};

const HINT = () => t("Shown when you are asked for the second password. It must not reveal it.");

const DIALOGS = {
  enable: ({
    done,
    onClose,
  }) => html`<${ActionDialog} title=${t("Turn on two-step verification")} action="two_step_enable"
    initial=${{ password: "", hint: "" }} check=${revealed("password")} label=${t("Turn on")} run=${(values) => parley.auth.twoStepEnable(values)}
    fields=${(form) => html`
      <${SecondPasswordField} label=${t("Second password")} ...${NEW} hint=${t("At least {n} characters. It must differ from your first password.", { n: LIMITS.leastPasswordLength })}
        ...${form.field("password")} />
      <${Field} label=${t("Hint")} maxlength=${LIMITS.hintLength} autocomplete="off" hint=${HINT()} ...${form.field("hint")} />`}
    onDone=${done(t("Two-step verification is on."))} onClose=${onClose} />`,

  change: ({
    status,
    done,
    onClose,
  }) => html`<${ActionDialog} title=${t("Change second password")} action="two_step_change"
    initial=${{ password: "", new_password: "", hint: status.hint }} check=${revealed("new_password")} label=${t("Change second password")}
    run=${(/** @type {any} */ { password, ...values }) => parley.auth.twoStepChange(password ? { password, ...values } : values)}
    fields=${(form) => html`
      <${SecondPasswordField} label=${t("Second password")} hint=${t("Not needed for 15 minutes after you sign in with a recovery code.")} ...${form.field("password")} />
      <${SecondPasswordField} label=${t("New second password")} ...${NEW} ...${form.field("new_password")} />
      <${Field} label=${t("Hint")} maxlength=${LIMITS.hintLength} autocomplete="off" hint=${HINT()} ...${form.field("hint")} />`}
    onDone=${done(t("The second password is changed."))} onClose=${onClose} />`,

  disable: ({
    done,
    onClose,
  }) => html`<${ActionDialog} title=${t("Turn off two-step verification")} action="two_step_disable"
    initial=${{ password: "" }} label=${t("Turn off")} kind="danger" run=${(values) => parley.auth.twoStepDisable(values)}
    fields=${(form) => html`<${SecondPasswordField} label=${t("Second password")} required ...${form.field("password")} />`}
    onDone=${done(t("Two-step verification is off."))} onClose=${onClose} />`,

  codes: ({ done, onClose }) => html`<${ActionDialog} title=${t("New recovery codes")} action="recovery_codes"
    lead=${t("Your current codes stop working.")} run=${(values) => parley.auth.twoStepRecoveryCodes(values)}
    onDone=${done(t("Here are your new codes."))} onClose=${onClose} />`,
};

function RecoveryCodes({ codes, onClose }) {
  const text = codes.join("\n");
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  const copy = () =>
    copyText(text).then(
      () => notice(t("Copied.")),
      () => notice(t("The browser did not allow copying."), { kind: "danger" }),
    );
  return html`<${Dialog} title=${t("Recovery codes")} onClose=${onClose}>
    <p>${t("Keep them where you will find them without this device. Each works once, and they are shown only now.")}</p>
    <ol class="codes" dir="ltr" translate="no" aria-label=${t("Recovery codes")}>${codes.map((code) => html`<li key=${code}><code>${code}</code></li>`)}</ol>
    <div class="button-row"><button class="button" onClick=${copy}>${t("Copy")}</button>
      <a class="button" href=${file} download="parley-recovery-codes.txt">${t("Save as a file")}</a>
      <button class="button primary" onClick=${onClose}>${t("I have saved them")}</button></div>
  <//>`;
}
