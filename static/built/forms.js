import { d, useSeconds, T, A, html, tn, t, errorText, P } from './first.js';
import { Alert } from './alert.js';

// Forms: fields with their labels and errors, and one way to send them.

// What a required field asks for while it is empty, by the name of the field.
const MISSING = {
  first_name: () => t("Enter your first name."),
  last_name: () => t("Enter your last name."),
  email: () => t("Enter your e-mail address."),
  password: () => t("Enter your password."),
  current_password: () => t("Enter your current password."),
  new_password: () => t("Enter a new password."),
  "second-step": () => t("Enter your second password."),
  code: () => t("Enter the code."),
  recovery_code: () => t("Enter a recovery code."),
};

// The field that a refusal is about, where the server does not name it.
const TAKEN = { email_taken: "email", username_taken: "username" };

const anything = () => t("Fill in this field.");

// What is wrong with a field as far as it tells by itself; nothing that the server would take.
function faultOf({ name, type, required, minLength, value }) {
  const text = value.trim();
  if (!text) return required ? (MISSING[name] ?? anything)() : null;
  if (type === "email" && !/^\S+@[^\s@]+$/.test(text)) return t("Enter a valid e-mail address.");
  if ([...value].length < minLength) return t("At least {n} characters.", { n: minLength });
  return null;
}

// The values of a form, what is wrong with them, and `submit` for its button.
// `send(values)` talks to the API; a rejected promise shows its words at the field that the server names, else above the button.
// `check(values)`: what is wrong with fields beside one another, by name. Nothing is sent before all of it is right.
function useForm(initial, send, check = (/** @type {any} */ _values) => ({})) {
  const [values, setValues] = d(initial);
  const [problems, setProblems] = d({ fields: {}, message: "" });
  const [busy, setBusy] = d(false);
  const [retryAt, setRetryAt] = d(0);
  const wait = useSeconds(retryAt);
  const form = T(null);
  const written = T({});
  const alive = T(true);
  A(
    () => () => {
      alive.current = false;
    },
    [],
  );
  // The first field with an error takes the focus.
  A(() => {
    form.current?.querySelector("[aria-invalid=true]")?.focus();
  }, [problems]);

  // What stands in the fields: password managers fill them without an event.
  function filled(old) {
    const found = { ...old };
    for (const { dataset, type, checked, value } of form.current?.elements ?? []) {
      const name = dataset.field;
      const shown = type === "checkbox" ? checked : value;
      if (name in written.current && shown !== written.current[name] && old[name] === written.current[name])
        found[name] = shown;
    }
    return found;
  }
  const shownValues = filled(values);

  const set = (name, value) => setValues((old) => ({ ...filled(old), [name]: value }));
  function faults(sent) {
    const fields = check(sent);
    for (const element of form.current?.elements ?? []) {
      const fault = element.dataset.field && faultOf(element);
      if (fault) fields[element.dataset.field] = fault;
    }
    return fields;
  }
  async function submit(event) {
    event?.preventDefault();
    if (busy || wait) return;
    const sent = filled(values);
    setValues(sent);
    const fields = faults(sent);
    if (Object.keys(fields).length) {
      setProblems({ fields, message: "" });
      return;
    }
    setBusy(true);
    setProblems({ fields: {}, message: "" });
    try {
      await send(sent);
    } catch (error) {
      if (alive.current) fail(error);
    }
    if (alive.current) setBusy(false);
  }
  function fail(error) {
    const fields = {};
    for (const [name, texts] of Object.entries(error.fields || {})) fields[name] = [].concat(texts).join(" ");
    const taken = TAKEN[error.code];
    if (taken in values) fields[taken] ??= error.message;
    const named = Object.keys(fields).some((name) => name in values);
    setProblems({ fields, message: named ? "" : errorText(error) });
    if (error.retryAfter) setRetryAt(Date.now() + error.retryAfter * 1000);
  }
  const part = (name) => {
    written.current[name] = shownValues[name];
    return { name, "data-field": name };
  };
  const field = (name) => ({
    ...part(name),
    value: shownValues[name],
    error: problems.fields[name],
    onInput: (event) => set(name, event.currentTarget.value),
  });
  const box = (name) => ({
    ...part(name),
    checked: shownValues[name],
    onChange: (event) => set(name, event.currentTarget.checked),
  });
  const reset = (next = initial) => setValues(next);
  return { values: shownValues, set, submit, field, box, busy, wait, form, reset, fail, message: problems.message };
}

function Form({ form, children, ...rest }) {
  return html`<form ref=${form.form} class="form" onSubmit=${form.submit} novalidate ...${rest}>${children}</form>`;
}

// A control with its label, hint and error. `children(props)` draws it with what ties it to them.
function Labeled({ label, hint, error, children }) {
  const id = P();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, "aria-invalid": error ? "true" : undefined, "aria-describedby": describedBy })}
    ${hint && html`<p id=${`${id}-hint`} class="hint">${hint}</p>`}
    ${error && html`<p id=${`${id}-error`} class="error">${error}</p>`}
  </div>`;
}

function Field({ label, hint, error, type = "text", ...rest }) {
  return html`<${Labeled} label=${label} hint=${hint} error=${error}>${(props) => html`
    <input class="input" type=${type} dir=${type === "text" ? "auto" : undefined} ...${props} ...${rest} />`}<//>`;
}

function TextArea({ label, hint, error, ...rest }) {
  return html`<${Labeled} label=${label} hint=${hint} error=${error}>${(props) => html`
    <textarea class="input" rows="3" dir="auto" ...${props} ...${rest}></textarea>`}<//>`;
}

// A password that can be looked at.
function PasswordField({ label, hint, error, ...rest }) {
  const [shown, setShown] = d(false);
  const toggle = ({ currentTarget }) => {
    // What a password manager has filled in without an event would be drawn over.
    currentTarget.previousElementSibling.dispatchEvent(new Event("input", { bubbles: true }));
    setShown(!shown);
  };
  return html`<${Labeled} label=${label} hint=${hint} error=${error}>${(props) => html`<div class="with-button">
    <input class="input" type=${shown ? "text" : "password"} dir="ltr" autocapitalize="off" spellcheck=${false} ...${props} ...${rest} />
    <button type="button" class="text-button" aria-pressed=${shown} aria-controls=${props.id}
      onClick=${toggle}>${t("Show")}</button></div>`}<//>`;
}

// A second password, or the mailed code that counts in its place. A password manager must not take it for the first
// password: not fill that in here, nor keep this one for it.
function SecondPasswordField({ autocomplete = "one-time-code", ...rest }) {
  return html`<${PasswordField} ...${rest} name="second-step" autocomplete=${autocomplete} data-1p-ignore data-lpignore="true" data-bwignore />`;
}

// Whose password a form sets: by it a password manager knows which entry to change.
function Username({ email }) {
  return html`<input type="text" autocomplete="username" name="username" value=${email} readonly hidden />`;
}

// Unicode puts the digits of each script in tens, from zero to nine.
function digitOf(digit) {
  let first = digit.codePointAt(0);
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (digit.codePointAt(0) - first) % 10;
}

// The digits of a code as the server wants them, of whatever script, without what was copied around them.
const digitsOf = (text) =>
  [...text]
    .filter((character) => /\p{Nd}/u.test(character))
    .map(digitOf)
    .join("");

// Digits from a mail.
function CodeField({ label = t("Code"), ...rest }) {
  return html`<${Field} label=${label} class="input code-input" inputmode="numeric" autocomplete="one-time-code" dir="ltr"
    required ...${rest} />`;
}

function Select({ label, hint, error, options, value, ...rest }) {
  return html`<${Labeled} label=${label} hint=${hint} error=${error}>${(props) => html`
    <select class="input" value=${value} ...${props} ...${rest}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
    </select>`}<//>`;
}

function Checkbox({ label, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /><span>${label}</span></label>`;
}

// On or off, at once.
function Switch({ label, hint, ...rest }) {
  const id = P();
  return html`<div class="switch-row">
    <label for=${id}><span>${label}</span></label>
    <input id=${id} class="switch" type="checkbox" role="switch" aria-describedby=${hint && `${id}-hint`} ...${rest} />
    ${hint && html`<span id=${`${id}-hint`} class="hint">${hint}</span>`}
  </div>`;
}

// The words for the whole form, and its button. One that is really disabled would lose the focus.
function Submit({ form, label, kind = "primary" }) {
  const text = form.wait > 0 ? tn("Wait {n} second", "Wait {n} seconds", form.wait) : label;
  return html`<${Alert} text=${form.message} />
    <button class=${`button ${kind}`} type="submit" aria-disabled=${form.busy || form.wait > 0} aria-busy=${form.busy}>${text}</button>`;
}

function Status({ text }) {
  return html`<div aria-live="polite" class=${text ? "done" : "alert-empty"}>${text}</div>`;
}

export { Checkbox, CodeField, Field, Form, PasswordField, SecondPasswordField, Select, Status, Submit, Switch, TextArea, Username, digitsOf, useForm };
