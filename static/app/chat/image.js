// The image of a message: its place is kept from the first moment, so that nothing jumps when it arrives.
import { parley } from "../client.js";
import { html, useEffect, useMemo, useState } from "../html.js";
import { t, tn } from "../i18n.js";
import { Blurhash } from "../ui/blurhash.js";
import { Dialog } from "../ui/dialog.js";

const WIDEST = 340;
const TALLEST = 360;

function fit({ width, height }) {
  const scale = Math.min(1, WIDEST / width, TALLEST / height);
  return { width: Math.max(80, Math.round(width * scale)), height: Math.max(60, Math.round(height * scale)) };
}

export function Image({ message, name }) {
  const [open, setOpen] = useState(false);
  const [here, setHere] = useState(false);
  const { width, height } = fit(message.media);
  const alt = message.body ? t("Image from {name}: {text}", { name, text: message.body }) : t("Image from {name}", { name });
  const animated = message.media.mime === "image/gif";
  return html`<button type="button" class="image" style=${{ width: `${width}px`, aspectRatio: `${width} / ${height}` }} aria-label=${t("Open the image")}
      onClick=${() => setOpen(true)}>
      ${!here && html`<${Blurhash} hash=${message.media.blurhash} />`}
      <img src=${parley.mediaUrl(animated ? message.media_url : message.media.thumb_url)} alt=${alt} width=${width} height=${height} loading="lazy"
        decoding="async" onLoad=${() => setHere(true)} /></button>
    ${open && html`<${Dialog} title=${name} className="viewer" onClose=${() => setOpen(false)}>
      <img src=${parley.mediaUrl(message.media_url)} alt=${alt} width=${message.media.width} height=${message.media.height} />
      ${message.body && html`<p dir="auto">${message.body}</p>`}<//>`}`;
}

// An address for a file of this window, taken back when it is no longer shown.
export function useObjectUrl(file) {
  const address = useMemo(() => (file ? URL.createObjectURL(file) : null), [file]);
  useEffect(() => () => address && URL.revokeObjectURL(address), [address]);
  return address;
}

export function Upload({ item }) {
  const address = useObjectUrl(item.file);
  const percent = Math.round(item.progress * 100);
  return html`<div class="image uploading"><img src=${address} alt=${t("Image being sent")} />
    ${item.state !== "failed" && html`<progress max="100" value=${percent} aria-label=${t("Upload")}>${tn("{n} percent", "{n} percent", percent)}</progress>`}</div>`;
}
