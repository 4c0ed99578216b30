import { parley } from "../../client.js";
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { notice } from "../../lib/notices.js";
import { signOut } from "../../session.js";
import { ActionDialog } from "./action_dialog.js";

export function Data() {
  const [open, setOpen] = useState(null);
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
        save(blob);
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

function save(blob) {
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
