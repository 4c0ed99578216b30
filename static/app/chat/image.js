// The image of a message: its place is kept from the first moment, so that nothing jumps when it arrives.
import { parley } from "../client.js";
import { html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { t, tn } from "../lib/i18n.js";
import { Blurhash } from "../ui/blurhash.js";
import { Icon } from "../ui/icon.js";

const WIDEST = 340;
const TALLEST = 360;

function fit({ width, height }) {
  const scale = Math.min(1, WIDEST / width, TALLEST / height);
  return { width: Math.max(80, Math.round(width * scale)), height: Math.max(60, Math.round(height * scale)) };
}

export const altOf = (message, name) =>
  message.body ? t("Image from {name}: {text}", { name, text: message.body }) : t("Image from {name}", { name });

export function Image({ message, name, onOpen }) {
  const [here, setHere] = useState(false);
  const { width, height } = fit(message.media);
  const animated = message.media.mime === "image/gif";
  return html`<button type="button" class="image" style=${{ width: `${width}px`, aspectRatio: `${width} / ${height}` }} aria-label=${t("Open the image")}
      onClick=${() => onOpen(message)}>
      ${!here && html`<${Blurhash} hash=${message.media.blurhash} />`}
      <img src=${parley.mediaUrl(animated ? message.media_url : message.media.thumb_url)} alt=${altOf(message, name)} width=${width} height=${height} loading="lazy"
        decoding="async" onLoad=${() => setHere(true)} /></button>`;
}

// An address for a file of this window, taken back when it is no longer shown.
export function useObjectUrl(file) {
  const address = useMemo(() => (file ? URL.createObjectURL(file) : null), [file]);
  useEffect(() => () => address && URL.revokeObjectURL(address), [address]);
  return address;
}

// Of the files that are sent from this window: a row has its height before its picture is decoded.
const sizes = new WeakMap();
export const keepSize = (file, size) => sizes.set(file, size);
// For one of which nothing is known yet; it does not change, so that the log does not jump.
const UNKNOWN = { width: 280, height: 210 };

export function Upload({ item }) {
  const address = useObjectUrl(item.file);
  const [isBroken, setBroken] = useState(false);
  const known = useRef(item.file && sizes.get(item.file));
  const { width, height } = fit(known.current ?? UNKNOWN);
  const percent = Math.round(item.progress * 100);
  const isFailed = item.state === "failed";
  const alt = isFailed ? t("Image that was not sent") : t("Image being sent");
  return html`<div class="image uploading" style=${{ width: `${width}px`, aspectRatio: `${width} / ${height}` }}>
    ${
      isBroken
        ? html`<div class="broken" role="img" aria-label=${alt}><${Icon} name="image" size=${40} /></div>`
        : html`<img src=${address} alt=${alt} onError=${() => address && setBroken(true)} />`
    }
    ${!isFailed && html`<progress max="100" value=${percent} aria-label=${t("Upload")}>${tn("{n} percent", "{n} percent", percent)}</progress>`}</div>`;
}
