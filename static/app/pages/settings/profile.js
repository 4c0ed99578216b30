import { LIMITS } from "../../../sdk/parley/limits.js";
import { parley } from "../../client.js";
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { failed, notice } from "../../lib/notices.js";
import { Avatar } from "../../ui/avatar.js";
import { focusIfLost } from "../../ui/focus.js";
import { Field, Form, Submit, TextArea, useForm } from "../../ui/forms.js";
import { CropDialog } from "./avatar_crop.js";

const NAMES = ["first_name", "last_name", "username", "bio"];
const part = (profile) => Object.fromEntries(NAMES.map((name) => [name, profile[name] || ""]));

export function Profile({ profile, update }) {
  const form = useForm(part(profile), async (values) => {
    const changed = Object.fromEntries(
      NAMES.filter((name) => values[name] !== (profile[name] || "")).map((name) => [name, values[name]]),
    );
    const reply = await parley.profile.update(changed);
    update(reply.profile);
    form.reset(part(reply.profile));
    notice(t("Your profile is saved."));
  });
  const shown = useRef(part(profile));
  // What is changed on another device changes here, too, but for what is being written.
  useEffect(() => {
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
  const [file, setFile] = useState(null);
  const input = useRef(null);
  const chooser = useRef(null);
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
