import { d, A, parley, t, html, failed, notice, T, config, app, F, signOut, ago, tn, day, LANGUAGES, supported, theme, useLanguage, setTheme, LIMITS, forThisUser, errorText, useTitle, Icon, navigate } from '../../first.js';
import { Alert } from '../../alert.js';
import { Avatar, nameOf, loadBlocks, focusAfter, Dialog, onReturn, notificationState, turnNotificationsOn, turnNotificationsOff, focusIfLost, copyText } from '../chats.js';
import { useForm, digitsOf, Form, Submit, CodeField, Status, Switch, Select, Field, TextArea, SecondPasswordField, Username, PasswordField } from '../../forms.js';
import { Mailbox } from '../verify.js';
import { deviceName } from '../../device_name.js';
import '../../auth_page.js';

function Blocked() {
  const [blocks, setBlocks] = d(null);
  const load = () => loadBlocks().then(setBlocks, failed);
  A(() => {
    load();
    return parley.on("block.changed", load);
  }, []);
  async function unblock({ user_id, user }, button) {
    const moveFocus = focusAfter(button);
    try {
      await parley.profile.blocksRemove({ user_id });
      moveFocus();
      setBlocks((old) => old.filter((other) => other.user_id !== user_id));
      notice(t("{name} is no longer blocked.", { name: nameOf(user) }));
    } catch (error) {
      failed(error);
    }
  }
  if (!blocks) return null;
  if (!blocks.length) return html`<p class="hint">${t("You have not blocked anyone.")}</p>`;
  return html`<ul class="rows">${blocks.map(
    (block) => html`<li key=${block.user_id}>
    <${Avatar} user=${block.user} size="small" />
    <span class="row-text"><strong dir="auto">${nameOf(block.user)}</strong><span class="hint" dir="ltr">@${block.user.username}</span></span>
    <button class="button" aria-label=${t("Unblock {name}", { name: nameOf(block.user) })}
      onClick=${({ currentTarget }) => unblock(block, currentTarget)}>${t("Unblock")}</button>
  </li>`,
  )}</ul>`;
}

// A sensitive change: its form, then a code by e-mail, then the change itself.

// The field that a refusal is about, where neither the server nor the form names it.
const FIELDS = { invalid_credentials: "current_password", invalid_two_step: "password" };

const named = (error) =>
  error.fields || !FIELDS[error.code]
    ? error
    : Object.assign(error, { fields: { [FIELDS[error.code]]: [error.message] } });

const SPENT = ["action_token_invalid", "action_token_required"];

// `fields(form)` draws the form, and `check` is that of useForm; `run(values with action_token)` makes the change and `onDone(its reply)` follows.
function ActionDialog({
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
  const [step, setStep] = d("form");
  const challenge = T(null);
  const confirmed = T(null);
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
  const place = T(null);
  F(() => {
    (place.current.querySelector("input:not([hidden]), select") || place.current.querySelector("button"))?.focus();
  }, []);
  return html`<div ref=${place}>${children}</div>`;
}

function Data() {
  const [open, setOpen] = d(null);
  const close = () => setOpen(null);
  return html`<div class="action-row"><p><strong>${t("A copy of your data")}</strong>
      <span class="hint">${t("All the data we hold about you, as a zip file.")}</span></p>
      <button class="button" onClick=${() => setOpen("export")}>${t("Export data")}</button></div>
    <div class="action-row"><p><strong>${t("Delete the account")}</strong>
      <span class="hint">${t("After 14 days everything is erased. Sign in within 14 days to keep your account.")}</span></p>
      <button class="button danger" onClick=${() => setOpen("delete")}>${t("Delete account")}</button></div>
    ${
      open === "export" &&
      html`<${ActionDialog} title=${t("Export data")} action="export_data"
      lead=${t("We'll e-mail you a code to confirm that it's you.")} run=${(values) => parley.auth.export(values)}
      onDone=${(blob) => {
        save$2(blob);
        close();
      }} onClose=${close} />`
    }
    ${
      open === "delete" &&
      html`<${ActionDialog} title=${t("Delete account")} action="delete_account" kind="danger" label=${t("Delete account")}
      lead=${t("You'll be signed out everywhere. After 14 days your profile, your messages and your pictures are erased for everyone. Sign in within 14 days to keep your account.")}
      run=${(values) => parley.auth.deleteAccount(values)} onDone=${gone} onClose=${close} />`
    }`;
}

function save$2(blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `parley-${new Date().toISOString().slice(0, 10)}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  notice(t("Your data has been saved as {file}.", { file: link.download }));
}

// The page that follows says when the account is erased: this one is left at once.
function gone({ erase_after: at }) {
  signOut(`/app/signed-out?erased=${encodeURIComponent(at)}`);
}

function Devices() {
  const [sessions, setSessions] = d(null);
  const [devices, setDevices] = d(null);
  const load = (onError = failed) =>
    Promise.all([
      parley.auth.sessionsList().then((reply) => setSessions(currentFirst(reply.sessions))),
      parley.auth.devicesList().then((reply) => setDevices(reply.devices)),
    ]).catch(onError);
  A(() => {
    load();
    // A change of the password has ended the others.
    const offs = [parley.on("session.renewed", () => load()), onReturn(() => load(() => {}))];
    return () => offs.forEach((off) => off());
  }, []);
  const run =
    (work) =>
    ({ currentTarget }) => {
      const moveFocus = focusAfter(currentTarget);
      work().then(moveFocus, (error) => {
        failed(error);
        load();
      });
    };
  const end = (session) =>
    run(async () => {
      await parley.auth.sessionsEnd({ session_id: session.id });
      setSessions((old) => old.filter((other) => other.id !== session.id));
    });
  const endOthers = run(async () => {
    await parley.auth.sessionsEndOthers();
    setSessions((old) => old.filter((session) => session.is_current));
    notice(t("You are signed in here only."));
  });
  const forget = (device) =>
    run(async () => {
      await parley.auth.devicesRemove({ device_id: device.id });
      // The sessions that it opened have ended with it.
      await load();
    });
  if (!sessions || !devices) return null;
  const others = sessions.filter((session) => !session.is_current).length;
  return html`<h3>${t("Signed in")}</h3>
    <ul class="rows">${sessions.map(
      (session) => html`<li key=${session.id}>
      <span class="row-text"><strong>${deviceName(session)}</strong>
        <span class="hint">${session.is_current ? t("This browser") : t("Last used {when}", { when: ago(session.last_used_at) })}${
          session.ip && html` · <bdi>${session.ip}</bdi>`
        }</span></span>
      ${
        !session.is_current &&
        html`<button class="button" aria-label=${t("End the session {name}", { name: deviceName(session) })}
        onClick=${end(session)}>${t("End")}</button>`
      }</li>`,
    )}</ul>
    ${others > 0 && html`<button class="button" onClick=${endOthers}>${tn("End {n} other session", "End {n} other sessions", others)}</button>`}
    <h3>${t("Trusted devices")}</h3>
    ${devices.length === 0 && html`<p class="hint">${t("None. Trusted devices do not ask for the second password.")}</p>`}
    <ul class="rows">${devices.map(
      (device) => html`<li key=${device.id}>
      <span class="row-text"><strong>${deviceName(device)}</strong>
        <span class="hint">${t("Trusted until {date}", { date: day(device.expires_at) })}</span></span>
      <button class="button" aria-label=${t("Remove {name}", { name: deviceName(device) })}
        onClick=${forget(device)}>${t("Remove")}</button></li>`,
    )}</ul>`;
}

const currentFirst = (sessions) => [...sessions].sort((one, other) => other.is_current - one.is_current);

// Values that are saved one by one, each as soon as it is changed.

// A function that saves one change after the other, so that the last one counts. It gives the reply, or null when
// another change waits, which is not in the reply.
function useTurns() {
  /** @type {{ current: Promise<any> }} */
  const last = T(Promise.resolve());
  return async (save) => {
    const saved = last.current.catch(() => {}).then(save);
    last.current = saved;
    const reply = await saved;
    return last.current === saved ? reply : null;
  };
}

// The values, null until `load` has them, and a function that changes one: shown at once, taken back when `save` fails.
function useSaved(load, save) {
  const [values, setValues] = d(null);
  const inTurn = useTurns();
  A(() => {
    load().then(setValues, failed);
  }, []);
  async function change(name, value) {
    const before = values[name];
    setValues((old) => ({ ...old, [name]: value }));
    try {
      const stored = await inTurn(() => save({ [name]: value }));
      // The others may have been changed on another device.
      if (stored) setValues(stored);
    } catch (error) {
      setValues((old) => ({ ...old, [name]: before }));
      failed(error);
    }
  }
  return [values, change];
}

// switches: [[name, label(), hint()?]]
function Switches({ switches, values, change }) {
  return html`<div class="switches">${switches.map(
    ([name, label, hint]) => html`<${Switch} key=${name} name=${name} label=${label()}
    hint=${hint?.()} checked=${values[name]} onChange=${(event) => change(name, event.currentTarget.checked)} />`,
  )}</div>`;
}

function Language({ profile, update }) {
  const inTurn = useTurns();
  async function choose({ currentTarget: { value: language } }) {
    try {
      const reply = await inTurn(() => parley.profile.update({ language }));
      if (!reply) return;
      await useLanguage(reply.profile.language, { addresses: config.catalogs });
      parley.language = reply.profile.language;
      update(reply.profile);
    } catch (error) {
      failed(error);
    }
  }
  return html`<${Select} label=${t("Language (also used for e-mails and notifications)")} options=${LANGUAGES}
    value=${supported(profile.language) || "en"} onChange=${choose} />`;
}

function Appearance() {
  const [name, setName] = d(theme());
  const options = [
    ["system", t("Use system setting")],
    ["light", t("Light")],
    ["dark", t("Dark")],
  ];
  const choose = (event) => {
    setTheme(event.currentTarget.value);
    setName(event.currentTarget.value);
  };
  return html`<${Select} label=${t("Theme")} options=${options} value=${name} onChange=${choose} />`;
}

const GENERAL = ["enabled", "quiet_mode"];
/** @type {[string, () => string, (() => string)?][]} */
const SWITCHES$1 = [
  ["enabled", () => t("Notifications enabled"), () => t("If off, you receive no notifications except calls.")],
  ["quiet_mode", () => t("Pause push notifications"), () => t("They still appear under Notifications.")],
  ["likes", () => t("Likes")],
  ["comments", () => t("Comments"), () => t("Comments and replies.")],
  ["follows", () => t("Follows")],
  ["messages", () => t("Messages")],
];

// Not those of kinds that nothing sends here.
const shown = () => SWITCHES$1.filter(([name]) => GENERAL.includes(name) || config.switches.includes(name));

const load$1 = () => parley.notifications.preferences().then((reply) => reply.preferences);
const save$1 = (change) => parley.notifications.preferencesChange(change).then((reply) => reply.preferences);

function Preferences() {
  const [preferences, change] = useSaved(load$1, save$1);
  return (
    preferences && html`<${Switches} switches=${shown()} values=${preferences} change=${change} /><${InThisBrowser} />`
  );
}

const HINTS = {
  on: () => t("While no window of {product} is in sight: new messages and calls.", { product: config.product }),
  off: () => t("While no window of {product} is in sight: new messages and calls.", { product: config.product }),
  denied: () =>
    t("The browser blocks them. Allow notifications for this page in its settings, then turn them on here."),
  unsupported: () => t("This browser cannot show notifications of this page."),
};

function InThisBrowser() {
  const [{ state }, setShown] = d(() => ({ state: notificationState() }));
  const setState = (next) => setShown({ state: next });
  // Allowed or blocked in the settings of the browser meanwhile.
  A(() => onReturn(() => setState(notificationState())), []);
  const isFixed = state === "denied" || state === "unsupported";
  const change = ({ currentTarget: { checked } }) => {
    if (isFixed) setState(state);
    else if (checked) turnNotificationsOn().then(setState, failed);
    else {
      turnNotificationsOff();
      setState(notificationState());
    }
  };
  return html`<div class="switches"><${Switch} label=${t("Notifications in this browser")} hint=${HINTS[state]()} checked=${state === "on"}
    aria-disabled=${isFixed} onChange=${change} /></div>`;
}

const SWITCHES = [
  [
    "read_receipts",
    () => t("Read receipts"),
    () => t("If off, neither you nor the others see which messages have been read."),
  ],
  [
    "show_last_seen",
    () => t("Show when I was last seen"),
    () => t("If off, the ticks of a delivered message still show that one of your devices is connected."),
  ],
  [
    "relay_calls",
    () => t("Calls through a relay"),
    () => t("The other person does not see your IP address; call quality may be slightly lower."),
  ],
];

const load = () => parley.profile.privacyGet().then((reply) => reply.privacy);
const save = (change) => parley.profile.privacySet(change).then((reply) => reply.privacy);

function Privacy() {
  const [privacy, change] = useSaved(load, save);
  const choices = [
    ["everyone", t("Everyone")],
    ["contacts", t("People I have written to")],
    ["nobody", t("Nobody")],
  ];
  return (
    privacy &&
    html`<${Select} label=${t("Who can message me")} options=${choices} value=${privacy.who_can_message}
      hint=${t("The same people can call you.")} onChange=${(event) => change("who_can_message", event.currentTarget.value)} />
    <${Switches} switches=${SWITCHES} values=${privacy} change=${change} />`
  );
}

// The part of a picture that becomes the avatar: moved by pointer or arrow keys, enlarged by a slider.

// A browser that protects from being recognized gives noise in place of what was drawn: then nothing can be cut out.
function canReadCanvas() {
  const probe = Object.assign(document.createElement("canvas"), { width: 4, height: 4 });
  const context = probe.getContext("2d");
  context.fillStyle = "rgb(10, 200, 90)";
  context.fillRect(0, 0, 4, 4);
  try {
    const { data } = context.getImageData(0, 0, 4, 4);
    return data.every((value, index) => value === [10, 200, 90, 255][index % 4]);
  } catch {
    return false;
  }
}

async function cropped(canvas) {
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return new File([blob], "avatar.png", { type: "image/png" });
}

const SIDE = 512;
const STEP = 16;
const KEYS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function CropDialog({ file, onDone, onClose }) {
  const [picture, setPicture] = d(null);
  const [problem, setProblem] = d("");
  const [view, setView] = d({ x: 0, y: 0, zoom: 1 });
  const canvas = T(null);
  const [canRead] = d(canReadCanvas);
  const drag = T(null);
  A(() => {
    let wanted = true;
    createImageBitmap(file).then(
      (bitmap) => (wanted ? setPicture(bitmap) : bitmap.close()),
      () => wanted && setProblem(t("This picture cannot be read.")),
    );
    return () => {
      wanted = false;
    };
  }, [file]);
  F(() => {
    if (picture) draw(canvas.current, picture, view);
  }, [picture, view]);

  const move = (x, y, zoom) =>
    setView((old) => within(picture, { x: old.x + x, y: old.y + y, zoom: zoom ?? old.zoom }));
  const onKeyDown = (event) => {
    const direction = KEYS[event.key];
    if (!direction) return;
    event.preventDefault();
    move(direction[0] * STEP, direction[1] * STEP);
  };
  const onPointerMove = (event) => {
    if (!drag.current) return;
    const scale = SIDE / canvas.current.clientWidth;
    move((event.clientX - drag.current.x) * scale, (event.clientY - drag.current.y) * scale);
    drag.current = { x: event.clientX, y: event.clientY };
  };
  const onPointerDown = (event) => {
    drag.current = { x: event.clientX, y: event.clientY };
    canvas.current.setPointerCapture(event.pointerId);
  };
  const form = useForm({}, async () => {
    onDone(await parley.profile.avatarSet({ file: canRead ? await cropped(canvas.current) : file }));
  });
  return html`<${Dialog} title=${t("Your picture")} onClose=${onClose}>
    <${Alert} text=${problem} />
    ${
      picture &&
      !canRead &&
      html`<${Form} form=${form}>
      <p>${t("This browser does not let a page read pictures. The picture is sent as it is, and its middle is shown.")}</p>
      <canvas ref=${canvas} class="crop" width=${SIDE} height=${SIDE} role="img" aria-label=${t("Your picture")} />
      <${Submit} form=${form} label=${t("Save")} />
    <//>`
    }
    ${
      picture &&
      canRead &&
      html`<${Form} form=${form}>
      <canvas ref=${canvas} class="crop" width=${SIDE} height=${SIDE} tabindex="0" role="application"
        aria-label=${t("Cropped area. Move it with the arrow keys.")} onKeyDown=${onKeyDown} onPointerDown=${onPointerDown}
        onPointerMove=${onPointerMove} onPointerUp=${() => {
          drag.current = null;
        }} />
      <label class="field"><span>${t("Size")}</span>
        <input type="range" min="1" max="4" step="0.05" value=${view.zoom}
          onInput=${(event) => move(0, 0, Number(event.currentTarget.value))} /></label>
      <${Submit} form=${form} label=${t("Save")} />
    <//>`
    }
  <//>`;
}

const scaleOf = (picture, zoom) => (SIDE / Math.min(picture.width, picture.height)) * zoom;

// No edge of the picture comes inside the frame.
function within(picture, { x, y, zoom }) {
  const scale = scaleOf(picture, zoom);
  const limit = (value, length) => Math.max(-(length * scale - SIDE) / 2, Math.min((length * scale - SIDE) / 2, value));
  return { x: limit(x, picture.width), y: limit(y, picture.height), zoom };
}

function draw(element, picture, { x, y, zoom }) {
  const scale = scaleOf(picture, zoom);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const context = element.getContext("2d");
  context.clearRect(0, 0, SIDE, SIDE);
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, (SIDE - width) / 2 + x, (SIDE - height) / 2 + y, width, height);
}

const NAMES = ["first_name", "last_name", "username", "bio"];
const part = (profile) => Object.fromEntries(NAMES.map((name) => [name, profile[name] || ""]));

function Profile({ profile, update }) {
  const form = useForm(part(profile), async (values) => {
    const changed = Object.fromEntries(
      NAMES.filter((name) => values[name] !== (profile[name] || "")).map((name) => [name, values[name]]),
    );
    const reply = await parley.profile.update(changed);
    update(reply.profile);
    form.reset(part(reply.profile));
    notice(t("Your profile is saved."));
  });
  const shown = T(part(profile));
  // What is changed on another device changes here, too, but for what is being written.
  A(() => {
    const before = shown.current;
    const next = part(profile);
    shown.current = next;
    form.reset((old) =>
      Object.fromEntries(NAMES.map((name) => [name, old[name] === before[name] ? next[name] : old[name]])),
    );
  }, [profile]);
  return html`<${Picture} profile=${profile} update=${update} />
    <${Form} form=${form}>
      <div class="two-fields">
        <${Field} label=${t("First name")} autocomplete="given-name" maxlength=${LIMITS.nameLength} required ...${form.field("first_name")} />
        <${Field} label=${t("Last name")} autocomplete="family-name" maxlength=${LIMITS.nameLength} required ...${form.field("last_name")} />
      </div>
      <${Field} label=${t("Username")} autocomplete="off" spellcheck=${false} dir="ltr" required
        hint=${t("People find you by it. You can change it once every {n} days.", { n: LIMITS.usernameDays })} ...${form.field("username")} />
      <${TextArea} label=${t("About you")} maxlength=${LIMITS.bioLength} ...${form.field("bio")} />
      <p class="hint">${t("E-mail: {email}", { email: profile.email })}</p>
      <${Submit} form=${form} label=${t("Save")} />
    <//>`;
}

function Picture({ profile, update }) {
  const [file, setFile] = d(null);
  const input = T(null);
  const chooser = T(null);
  const take = (event) => {
    const [chosen] = event.currentTarget.files;
    event.currentTarget.value = "";
    if (!chosen) return;
    if (chosen.type.startsWith("image/")) setFile(chosen);
    else notice(t("Choose a picture: JPEG, PNG, WebP or GIF."), { kind: "danger" });
  };
  const remove = async () => {
    try {
      await parley.profile.avatarRemove();
      update({ ...profile, avatar_url: null });
      focusIfLost(chooser.current);
    } catch (error) {
      failed(error);
    }
  };
  const done = (reply) => {
    setFile(null);
    update({ ...profile, avatar_url: reply.avatar_url });
    notice(t("Your picture is saved."));
  };
  return html`<div class="picture-row">
    <${Avatar} user=${profile} size="large" />
    <div class="button-row">
      <button ref=${chooser} type="button" class="button" onClick=${() => input.current.click()}>${t("Choose a picture")}</button>
      ${profile.avatar_url && html`<button type="button" class="button quiet" onClick=${remove}>${t("Remove the picture")}</button>`}
      <input ref=${input} type="file" accept="image/jpeg,image/png,image/webp,image/gif" class="visually-hidden" tabindex="-1"
        aria-label=${t("Picture file")} onChange=${take} />
    </div>
    ${file && html`<${CropDialog} file=${file} onDone=${done} onClose=${() => setFile(null)} />`}
  </div>`;
}

function TwoStep() {
  const [status, setStatus] = d(null);
  const [open, setOpen] = d(null);
  const [codes, setCodes] = d(null);
  const load = (onError = failed) => parley.auth.twoStepStatus().then(setStatus, onError);
  A(() => {
    load();
    return onReturn(() => load(() => {}));
  }, []);
  const close = () => setOpen(null);
  // Others stand in the place of the buttons then.
  const buttons = T(null);
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

function Security({ profile, update }) {
  const [open, setOpen] = d(null);
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
  const [email, setEmail] = d(null);
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

// The settings of a user: one section, or all of them.

/** @type {[string, () => string, import("preact").ComponentType<any>][]} */
const SECTIONS = [
  ["profile", () => t("Profile"), Profile],
  ["language", () => t("Language"), Language],
  ["appearance", () => t("Appearance"), Appearance],
  ["notifications", () => t("Notifications"), Preferences],
  ["security", () => t("Security"), Security],
  ["devices", () => t("Devices and sessions"), Devices],
  ["privacy", () => t("Privacy"), Privacy],
  ["blocked", () => t("Blocked people"), Blocked],
  ["data", () => t("Your data"), Data],
];

const ALL = "/app/settings";

// The address names the section; without one, all of them stand below one another.
function Settings({ params }) {
  const [profile, setProfile] = d(null);
  const [problem, setProblem] = d("");
  const page = T(null);
  const update = (changed) => {
    setProfile(changed);
    // Null when the session has ended meanwhile.
    app.set(({ user }) => user && { user: { ...user, ...changed } });
  };
  A(() => {
    forThisUser(parley.profile.get()).then(
      (reply) => update(reply.profile),
      (error) => setProblem(errorText(error)),
    );
    return parley.on("profile.updated", ({ user }) => setProfile((old) => ({ ...old, ...user })));
  }, []);
  const open = SECTIONS.find(([key]) => key === params.section);
  useTitle(open ? `${open[1]()} · ${t("Settings")}` : t("Settings"));
  const show = () => {
    page.current.scrollIntoView({ block: "start" });
    page.current.querySelector(open ? "h2" : "h1").focus({ preventScroll: true });
  };
  // At once, so that the focus is never taken from what is used by then. Of a new page the shell takes care.
  const isNew = T(true);
  F(() => {
    if (open || !isNew.current) show();
    isNew.current = false;
  }, [open?.[0]]);
  const go = (key) => {
    // Again, when the address stays the same.
    if (key === open?.[0]) show();
    else navigate(key ? `${ALL}/${key}` : ALL);
  };
  const entry = (key, text) =>
    html`<button key=${key} aria-current=${key === open?.[0] ? "page" : undefined} onClick=${() => go(key)}>${text}<${Icon} name="next" size=${20} /></button>`;
  return html`<main class=${`page settings ${open ? "one-section" : ""}`} ref=${page}>
    <header class="settings-head"><h1 tabindex="-1">${t("Settings")}</h1>
      <button class="button" onClick=${() => signOut()}>${t("Sign out")}</button></header>
    ${open && html`<button class="text-button settings-back" onClick=${() => go()}><${Icon} name="back" size=${20} />${t("All settings")}</button>`}
    <div class="settings-body">
      <nav class="settings-nav" aria-label=${t("Sections")}>
        ${entry(undefined, t("All settings"))}
        ${SECTIONS.map(([key, title]) => entry(key, title()))}
        <a href="/app/help">${t("Help")}<${Icon} name="next" size=${20} /></a>
      </nav>
      <div class="settings-sections">
        <${Alert} text=${problem} />
        ${(open ? [open] : SECTIONS).map(
          ([key, title, Section]) => html`<section key=${key} class="card" aria-labelledby=${`section-${key}`}>
          <h2 id=${`section-${key}`} tabindex="-1">${title()}</h2>
          ${profile && html`<${Section} profile=${profile} update=${update} />`}</section>`,
        )}
      </div>
    </div>
  </main>`;
}

export { Settings as default };
