// Pictures that were chosen, pasted or dropped: made ready, shown with a caption, and sent only on order.
import { LIMITS, prepareImage } from "../../sdk/parley/limits.js";
// Here with the page: a picture is also chosen without a connection.
import "../../sdk/parley/prepare_image.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { bytes, t } from "../lib/i18n.js";
import { errorText, notice } from "../lib/notices.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icon.js";
import { isComposing, isTouch } from "../ui/keys.js";
import { Loading } from "../ui/loading.js";
import { keepSize, useObjectUrl } from "./image.js";

function problem(error, name) {
  const limit = bytes(LIMITS.imageBytes);
  switch (error.code) {
    case "unsupported_media_type":
      return t("{name} is not an image that this browser can read. Choose a JPEG, PNG, WebP or GIF image.", { name });
    case "file_too_large":
      return t("{name} is too large: an animated image can be at most {limit} and 24 megapixels.", { name, limit });
    case "file_unreadable":
      return t("{name} could not be read. Choose it again.", { name });
    case "canvas_blocked":
      return t(
        "{name} is too large, and this browser does not let pages make images smaller. Choose one of at most {limit}.",
        { name, limit },
      );
    default:
      return `${name}: ${errorText(error)}`;
  }
}

function Shown({ picture, onRemove }) {
  const address = useObjectUrl(picture.ready);
  const onLoad = ({ target }) => keepSize(picture.ready, { width: target.naturalWidth, height: target.naturalHeight });
  return html`<li class="picture" aria-busy=${picture.ready ? "false" : "true"}>
    ${
      picture.ready
        ? html`<img src=${address} alt=${picture.file.name} onLoad=${onLoad} />`
        : html`<${Loading} label=${t("Preparing the image")} />`
    }
    <button type="button" class="icon-button" aria-label=${t("Remove the image")} onClick=${onRemove}><${Icon} name="close" /></button></li>`;
}

let count = 0;
/** What the dialog shows of files; more may be added while it is open. */
export const picturesOf = (files) => [...files].map((file) => ({ id: (count += 1), file, ready: null }));

// `change` is given a function from the pictures to what they become; without a picture the dialog goes.
export function SendPictures({ pictures, change, text, onText, onPaste, onSend, onClose }) {
  const [isOrdered, setOrdered] = useState(false);
  const started = useRef(new Set());
  const isReady = pictures.every(({ ready }) => ready);

  useEffect(() => {
    for (const { id, file } of pictures.filter((picture) => !started.current.has(picture.id))) {
      started.current.add(id);
      prepareImage(file).then(
        (ready) => change((all) => all.map((picture) => (picture.id === id ? { ...picture, ready } : picture))),
        (error) => {
          notice(problem(error, file.name), { kind: "danger" });
          // What is left is to be looked at first.
          setOrdered(false);
          change((all) => all.filter((picture) => picture.id !== id));
        },
      );
    }
  }, [pictures]);
  const box = useRef(null);
  // A text that was begun goes on.
  useLayoutEffect(() => box.current.setSelectionRange(text.length, text.length), []);
  useEffect(() => {
    if (isOrdered && isReady && !onSend(pictures.map(({ ready }) => ready))) setOrdered(false);
  }, [isOrdered, isReady]);

  const order = (event) => {
    event.preventDefault();
    setOrdered(true);
  };
  const onKeyDown = (event) => {
    if (
      isComposing(event) ||
      event.key !== "Enter" ||
      event.shiftKey ||
      (isTouch() && !event.ctrlKey && !event.metaKey)
    )
      return;
    order(event);
  };
  return html`<${Dialog} title=${t("Send picture")} className="send-pictures" onClose=${onClose}>
    <ul class=${`pictures ${pictures.length > 1 ? "several" : ""}`}>${pictures.map(
      (picture) => html`<${Shown} key=${picture.id} picture=${picture}
      onRemove=${() => change((all) => all.filter((other) => other !== picture))} />`,
    )}</ul>
    <form class="stack" onSubmit=${order}>
      <div class="field"><label for="caption">${t("Caption")}</label>
        <textarea ref=${box} id="caption" class="input" rows="2" dir="auto" value=${text} onInput=${(event) => onText(event.target.value)} onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea></div>
      <div class="row dialog-actions"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${isOrdered}>${t("Send")}</button></div>
    </form><//>`;
}
