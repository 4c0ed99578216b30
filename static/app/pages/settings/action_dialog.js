// A sensitive change: its form, then a code by e-mail, then the change itself.
import { parley } from "../../client.js";
import { config } from "../../config.js";
import { html, useLayoutEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { app } from "../../state/app.js";
import { Dialog } from "../../ui/dialog.js";
import { CodeField, digitsOf, Form, Status, Submit, useForm } from "../../ui/forms.js";
import { Mailbox } from "../verify.js";

// The field that a refusal is about, where neither the server nor the form names it.
const FIELDS = { invalid_credentials: "current_password", invalid_two_step: "password" };

const named = (error) =>
  error.fields || !FIELDS[error.code]
    ? error
    : Object.assign(error, { fields: { [FIELDS[error.code]]: [error.message] } });

const SPENT = ["action_token_invalid", "action_token_required"];

// `fields(form)` draws the form, and `check` is that of useForm; `run(values with action_token)` makes the change and `onDone(its reply)` follows.
export function ActionDialog({
  title,
  lead,
  action,
  initial = {},
  fields,
  check = undefined,
  label = t("Continue"),
  kind,
  run,
  onDone,
  onClose,
}) {
  const [step, setStep] = useState("form");
  const challenge = useRef(null);
  const confirmed = useRef(null);
  // With what was filled in, which is checked before the code is sent.
  const sendCode = async (values = {}) => {
    const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
    const reply = await parley.auth.actionChallenge({ ...filled, action });
    challenge.current = reply.challenge_token;
  };
  const form = useForm(
    initial,
    async (values) => {
      if (confirmed.current) return perform(values);
      await sendCode(values).catch((error) => Promise.reject(named(error)));
      setStep("code");
    },
    check,
  );
  const code = useForm({ code: "" }, async (values) => {
    const reply = await parley.auth.actionVerify({ challenge_token: challenge.current, code: digitsOf(values.code) });
    confirmed.current = reply.action_token;
    try {
      await perform(form.values);
    } catch (error) {
      code.reset();
      setStep("form");
      form.fail(named(error));
    }
  });
  const again = useForm({ sent: "" }, async () => {
    again.set("sent", "");
    await sendCode();
    again.set("sent", t("We have sent a new code."));
  });
  async function perform(values) {
    try {
      onDone(await run({ ...values, action_token: confirmed.current }));
    } catch (error) {
      if (SPENT.includes(error.code)) confirmed.current = null;
      throw error;
    }
  }
  return html`<${Dialog} title=${title} onClose=${onClose}>
    ${
      step === "form"
        ? html`<${Focused} key="form"><${Form} form=${form}>
          ${lead && html`<p>${lead}</p>`}
          ${fields?.(form)}
          <${Submit} form=${form} label=${label} kind=${kind} />
        <//><//>`
        : html`<${Focused} key="code"><${Form} form=${code}>
          <p>${t("We have sent a code to {email}.", { email: app.getSnapshot().user?.email || "" })}</p>
          <${CodeField} ...${code.field("code")} />
          <${Submit} form=${code} label=${t("Confirm")} />
        <//>
        <${Form} form=${again}>
          <${Status} text=${again.values.sent} />
          <${Submit} form=${again} label=${t("Send a new code")} kind="quiet" />
          ${config.developer && html`<${Mailbox} email=${app.getSnapshot().user?.email} />`}
        <//><//>`
    }
  <//>`;
}

function Focused({ children }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    (place.current.querySelector("input:not([hidden]), select") || place.current.querySelector("button"))?.focus();
  }, []);
  return html`<div ref=${place}>${children}</div>`;
}
