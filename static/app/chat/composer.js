// Where a message is written: text, images, the reply or edit that is under way.
import { LIMITS } from "../../sdk/parley.js";
import { parley } from "../client.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { bytes, t } from "../i18n.js";
import { useNoticesAbove } from "../ui/above.js";
import { Icon } from "../ui/icon.js";
import { failed, notice } from "../ui/notices.js";
import { draftImages, draftOf, keepDraft, keepDraftImages, onDraft } from "./drafts.js";
import { EmojiPicker } from "./emoji.js";
import { useObjectUrl } from "./image.js";
import { previewText } from "./preview.js";

const TALLEST = 180;

// What may be sent of these files; for the others a notice says why not.
function images(files) {
  return [...files].filter((file) => {
    if (!LIMITS.imageTypes.includes(file.type)) {
      notice(t("{name}: only JPEG, PNG, WebP and GIF images can be sent.", { name: file.name }), { kind: "danger" });
      return false;
    }
    if (file.size > LIMITS.imageBytes) {
      const values = { name: file.name, size: bytes(file.size), limit: bytes(LIMITS.imageBytes) };
      notice(t("{name} is {size}. Images can be at most {limit}.", values), { kind: "danger" });
      return false;
    }
    return true;
  });
}

function Staged({ file, onRemove }) {
  const address = useObjectUrl(file);
  return html`<div class="staged"><img src=${address} alt=${file.name} />
    <button type="button" class="icon-button" aria-label=${t("Remove the image")} onClick=${onRemove}><${Icon} name="close" /></button></div>`;
}

function Context({ reply, editing, names, onEnd }) {
  const message = editing ?? reply;
  if (!message) return null;
  return html`<div class="context"><${Icon} name=${editing ? "edit" : "reply"} />
    <div class="quote-lines"><b>${editing ? t("Edit message") : t("Reply to {name}", { name: names(reply.sender_id) })}</b>
      <span dir="auto">${previewText(message)}</span></div>
    <button type="button" class="icon-button" aria-label=${editing ? t("Cancel editing") : t("Cancel reply")} onClick=${onEnd}><${Icon} name="close" /></button></div>`;
}

// control.current = {focus, addFiles} for the conversation around it.
export function Composer({ id, reply, editing, names, onEnd, onEditLast, onSent, onSave, control }) {
  const [text, setText] = useState(() => draftOf(id));
  const [files, setFiles] = useState(() => draftImages(id));
  const [picking, setPicking] = useState(false);
  const self = useRef();
  const box = useRef();
  const fileInput = useRef();
  const emojiButton = useRef();
  // The draft while a message is edited in its place; null while none is.
  const draft = useRef(null);

  useNoticesAbove(self);
  useLayoutEffect(() => {
    box.current.style.height = "auto";
    box.current.style.height = `${Math.min(TALLEST, box.current.scrollHeight + 2)}px`;
  }, [text]);
  const write = (next) => {
    setText(next);
    if (!editing) keepDraft(id, next);
  };
  // What was sent or written in another tab is not there to be sent once more from here.
  useEffect(() => onDraft(id, (next) => {
    if (draft.current === null) setText(next);
    else draft.current = next;
  }), [id]);
  useEffect(() => {
    keepDraftImages(id, files);
  }, [files]);
  useEffect(() => {
    if (editing) {
      // From one edit to the next, the draft stays.
      draft.current ??= text;
      setText(editing.body ?? "");
      requestAnimationFrame(() => box.current?.setSelectionRange(box.current.value.length, box.current.value.length));
    } else if (draft.current !== null) {
      setText(draft.current);
      draft.current = null;
    }
    if (editing || reply) box.current.focus();
  }, [editing?.id, reply?.id]);

  const sendFiles = (chosen, body = "") => {
    chosen.forEach((file, index) => {
      const first = index === 0;
      parley.outbox.sendImage({ conversation_id: id, file, ...(first && body ? { body } : {}), ...(first && reply ? { reply_to_id: reply.id } : {}) });
    });
    onSent();
  };
  // Into an empty box an image goes out at once; beside a text, or an edit, it waits for that.
  const addFiles = (added) => {
    const good = images(added);
    if (good.length === 0) return;
    if (text.trim() || editing) setFiles([...files, ...good]);
    else sendFiles(good);
  };
  control.current = { focus: () => box.current?.focus(), addFiles };

  const send = async () => {
    const body = text.trim();
    if ([...body].length > LIMITS.messageLength) {
      notice(t("A message may have at most {n} characters.", { n: LIMITS.messageLength }), { kind: "danger" });
      return;
    }
    if (editing) {
      if (!body && editing.kind === "text") return;
      try {
        if (body !== (editing.body ?? "")) await onSave(editing, body);
        // Only this edit: the next one may have begun.
        onEnd(editing);
      } catch (error) {
        failed(error);
      }
      return;
    }
    if (!body && files.length === 0) return;
    parley.typing(id, false);
    if (files.length > 0) sendFiles(files, body);
    else parley.outbox.send({ conversation_id: id, body, ...(reply ? { reply_to_id: reply.id } : {}) });
    write("");
    setFiles([]);
    onSent();
  };

  const onKeyDown = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && (editing || reply)) {
      event.preventDefault();
      onEnd();
    } else if (event.key === "ArrowUp" && !text && !editing) {
      event.preventDefault();
      onEditLast();
    }
  };
  const onInput = (event) => {
    write(event.target.value);
    if (!editing) parley.typing(id, event.target.value.trim() !== "");
  };
  const onPaste = (event) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    addFiles(pasted);
  };
  const insert = (emoji) => {
    const { selectionStart: from, selectionEnd: to } = box.current;
    write(text.slice(0, from) + emoji + text.slice(to));
    setPicking(false);
    box.current.focus();
    requestAnimationFrame(() => box.current?.setSelectionRange(from + emoji.length, from + emoji.length));
  };
  const closePicker = (withFocus) => {
    setPicking(false);
    if (withFocus) emojiButton.current?.focus();
  };

  return html`<form ref=${self} class="composer" onSubmit=${(event) => event.preventDefault()}>
    <${Context} reply=${reply} editing=${editing} names=${names} onEnd=${() => onEnd()} />
    ${files.length > 0 && html`<div class="stage">${files.map((file) => html`<${Staged} key=${file} file=${file} onRemove=${() => setFiles(files.filter((other) => other !== file))} />`)}</div>`}
    <div class="composer-line">
      <input ref=${fileInput} type="file" hidden accept=${LIMITS.imageTypes.join(",")} multiple aria-label=${t("Image file")} tabindex="-1"
        onChange=${(event) => {
          addFiles(event.target.files);
          event.target.value = "";
        }} />
      <button type="button" class="icon-button" aria-label=${t("Attach image")} disabled=${Boolean(editing)} onClick=${() => fileInput.current.click()}><${Icon} name="image" /></button>
      <textarea ref=${box} class="input message-box" rows="1" dir="auto" aria-label=${t("Message")} placeholder=${t("Message")} value=${text}
        onInput=${onInput} onKeyDown=${onKeyDown} onPaste=${onPaste} onBlur=${() => !editing && parley.typing(id, false)}></textarea>
      <button ref=${emojiButton} type="button" class="icon-button" aria-label=${t("Emoji")} aria-haspopup="dialog" aria-expanded=${picking ? "true" : "false"} onClick=${() => setPicking(!picking)}><${Icon} name="smile" /></button>
      ${picking && html`<${EmojiPicker} anchor=${emojiButton.current} onPick=${insert} onClose=${closePicker} />`}
      <button type="button" class="icon-button send" aria-label=${t("Send")} title=${editing ? t("Save") : t("Send")} onClick=${send}><${Icon} name=${editing ? "check" : "send"} /></button>
    </div>
  </form>`;
}
