// Where a message is written: text, pictures, the reply or edit that is under way.
import { LIMITS } from "../../sdk/parley/limits.js";
import { parley } from "../client.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { number, t, tn } from "../lib/i18n.js";
import { failed, notice } from "../lib/notices.js";
import { draftOf, keepDraft, onDraft } from "../state/drafts.js";
import { useNoticesAbove } from "../ui/above.js";
import { Icon } from "../ui/icon.js";
import { isComposing, isTouch } from "../ui/keys.js";
import { EmojiPicker } from "./emoji.js";
import { insertText, pasted } from "./paste.js";
import { picturesOf, SendPictures } from "./pictures.js";
import { previewText } from "./preview.js";

const MOST_LINES = 7;
const NEAR_LIMIT = 200;

function Context({ reply, editing, names, onEnd }) {
  const message = editing ?? reply;
  if (!message) return null;
  return html`<div class="context"><${Icon} name=${editing ? "edit" : "reply"} />
    <div class="quote-lines"><b>${editing ? t("Edit message") : t("Reply to {name}", { name: names(reply.sender_id) })}</b>
      <span dir="auto">${previewText(message)}</span></div>
    <button type="button" class="icon-button" aria-label=${editing ? t("Cancel editing") : t("Cancel reply")} onClick=${onEnd}><${Icon} name="close" /></button></div>`;
}

// How much may still be written, near the limit.
function Rest({ text }) {
  const left = LIMITS.messageLength - [...text.trim()].length;
  if (left > NEAR_LIMIT) return null;
  const many = Math.abs(left);
  return html`<p class=${`rest small ${left < 0 ? "danger-text" : "muted"}`} role="status">${
    left < 0
      ? tn("{n} character too many", "{n} characters too many", many)
      : tn("{n} character left", "{n} characters left", many)
  }</p>`;
}

// control.current = {focus, addFiles} for the conversation around it.
export function Composer({ id, reply, editing, names, onEnd, onEditLast, onSent, onSave, control }) {
  const [text, setText] = useState(() => draftOf(id));
  const [pictures, setPictures] = useState([]);
  // Beside an edit, whose text is not the caption.
  const [caption, setCaption] = useState("");
  const [picking, setPicking] = useState(false);
  const self = useRef(null);
  const box = useRef(null);
  const fileInput = useRef(null);
  const emojiButton = useRef(null);
  // The draft while a message is edited in its place; null while none is.
  const draft = useRef(null);

  useNoticesAbove(self);
  useLayoutEffect(() => {
    const { style } = box.current;
    // While it is measured nothing around it moves: the log above would lose its end.
    self.current.style.minHeight = `${self.current.offsetHeight}px`;
    style.height = "auto";
    const { lineHeight, fontSize } = getComputedStyle(box.current);
    const height = Math.min(MOST_LINES * (Number.parseFloat(lineHeight) || Infinity), box.current.scrollHeight);
    // Letters that are enlarged later enlarge it.
    style.height = `${height / Number.parseFloat(fontSize)}em`;
    self.current.style.minHeight = "";
  }, [text]);
  const write = (next) => {
    setText(next);
    if (!editing) keepDraft(id, next);
  };
  // What was sent or written in another tab is not there to be sent once more from here.
  useEffect(
    () =>
      onDraft(id, (next) => {
        if (draft.current === null) setText(next);
        else draft.current = next;
      }),
    [id],
  );
  // Before the next key: what is typed at once belongs to the edit.
  useLayoutEffect(() => {
    if (editing) {
      // From one edit to the next, the draft stays.
      draft.current ??= text;
      setText(editing.body ?? "");
      requestAnimationFrame(() => box.current?.setSelectionRange(box.current.value.length, box.current.value.length));
    } else if (draft.current !== null) {
      setText(draft.current);
      draft.current = null;
    }
  }, [editing?.id]);
  useEffect(() => {
    if (editing || reply) box.current.focus();
  }, [editing?.id, reply?.id]);

  const isTooLong = (body) => {
    const tooLong = [...body].length > LIMITS.messageLength;
    if (tooLong)
      notice(t("Messages can be up to {n} characters.", { n: number(LIMITS.messageLength) }), { kind: "danger" });
    return tooLong;
  };
  const answered = reply ? { reply_to_id: reply.id } : {};
  // Several pictures are as many messages, in their order; the first one has the caption and is the reply.
  const sendPictures = (files) => {
    const body = (editing ? caption : text).trim();
    if (isTooLong(body)) return false;
    files.forEach((file, index) =>
      parley.outbox.sendImage({ conversation_id: id, file, ...(index === 0 ? { body, ...answered } : {}) }),
    );
    setPictures([]);
    setCaption("");
    if (!editing) write("");
    onSent({ isEditing: Boolean(editing) });
    return true;
  };
  const addFiles = (added) => {
    const more = picturesOf(added);
    setPictures((all) => [...all, ...more]);
  };
  control.current = { focus: () => box.current?.focus(), addFiles };

  const send = async () => {
    const body = text.trim();
    if (isTooLong(body)) return;
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
    if (!body) return;
    parley.typing(id, false);
    parley.outbox.send({ conversation_id: id, body, ...answered });
    write("");
    onSent();
  };

  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    const isOrder = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && !event.shiftKey && (isOrder || !isTouch())) {
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
    const found = pasted(event.clipboardData);
    if (!found) return;
    event.preventDefault();
    if (found.text) insertText(event.target, found.text);
    else addFiles(found.files);
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
    <${Rest} text=${text} />
    <div class="composer-line">
      <input ref=${fileInput} type="file" hidden accept="image/*" multiple aria-label=${t("Image file")} tabindex="-1"
        onChange=${(event) => {
          addFiles(event.target.files);
          event.target.value = "";
        }} />
      <button type="button" class="icon-button" aria-label=${t("Attach image")} disabled=${Boolean(editing)} onClick=${() => fileInput.current.click()}><${Icon} name="image" /></button>
      <div class="input message-frame"><textarea ref=${box} class="message-box" rows="1" dir=${text ? "auto" : undefined} aria-label=${t("Message")} placeholder=${t("Message")} value=${text}
        enterkeyhint=${isTouch() ? "enter" : "send"} onInput=${onInput} onKeyDown=${onKeyDown} onPaste=${onPaste} onBlur=${() => !editing && parley.typing(id, false)}></textarea></div>
      <button ref=${emojiButton} type="button" class="icon-button" aria-label=${t("Emoji")} aria-haspopup="dialog" aria-expanded=${picking ? "true" : "false"} onClick=${() => setPicking(!picking)}><${Icon} name="smile" /></button>
      ${picking && html`<${EmojiPicker} anchor=${emojiButton.current} onPick=${insert} onClose=${closePicker} />`}
      <button type="button" class="icon-button send" aria-label=${t("Send")} title=${editing ? t("Save") : t("Send")} onClick=${send}><${Icon} name=${editing ? "check" : "send"} /></button>
    </div>
  </form>
  ${
    pictures.length > 0 &&
    html`<${SendPictures} pictures=${pictures} change=${setPictures} text=${editing ? caption : text} onText=${editing ? setCaption : write}
    onPaste=${onPaste} onSend=${sendPictures} onClose=${() => setPictures([])} />`
  }`;
}
