import { LIMITS } from "../../sdk/parley/limits.js";
// Reports a message to staff.
import { parley } from "../client.js";
import { html, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed, notice } from "../lib/notices.js";
import { Dialog } from "../ui/dialog.js";

const reasons = () => [
  ["spam", t("Spam")],
  ["abuse", t("Insults or threats")],
  ["illegal", t("Something illegal")],
  ["other", t("Something else")],
];

// The first reason stays. Apps may have others than these.
function repeated(reason) {
  const words = reasons().find(([value]) => value === reason)?.[1] ?? reason;
  return t("You have already reported this message: {reason}. Our team has your report.", { reason: words });
}

export function Report({ message, onClose }) {
  const [reason, setReason] = useState("spam");
  const [comment, setComment] = useState("");
  const [busy, setBusy] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const reply = await parley.messages.report({
        message_id: message.id,
        reason,
        ...(comment.trim() ? { comment: comment.trim() } : {}),
      });
      onClose();
      notice(reply.is_repeated ? repeated(reply.reason) : t("Thanks. Our team will review this message."));
    } catch (error) {
      setBusy(false);
      failed(error);
    }
  };
  return html`<${Dialog} title=${t("Report message")} onClose=${onClose}>
    <form class="stack" onSubmit=${send}>
      <fieldset class="plain"><legend>${t("Why are you reporting this message?")}</legend>
        ${reasons().map(([value, label]) => html`<label class="check" key=${value}><input type="radio" name="reason" value=${value} checked=${reason === value} onChange=${() => setReason(value)} />${label}</label>`)}</fieldset>
      <div class="field"><label for="report-comment">${t("Comment")}</label>
        <textarea id="report-comment" class="input" rows="3" maxlength=${LIMITS.reportCommentLength} value=${comment} onInput=${(event) => setComment(event.target.value)}></textarea></div>
      <div class="row dialog-actions"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${busy}>${t("Send report")}</button></div>
    </form><//>`;
}
