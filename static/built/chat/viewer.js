import { d, A, Icon, dateTime, t, parley, html, direction } from '../first.js';
import { Dialog, altOf } from '../pages/chats.js';

// The pictures of a conversation one by one on the whole screen, beginning with the one that was opened.

// Shows the picture in its own size, in a box that scrolls; else as large as the screen allows.
function Picture({ message, name, isZoomed, onZoom }) {
  const [isHere, setHere] = d(false);
  return html`<div class=${`stage ${isZoomed ? "zoomed" : ""}`} tabindex=${isZoomed ? 0 : undefined}>
    <img src=${parley.mediaUrl(message.media_url)} alt=${altOf(message, name)} aria-busy=${isHere ? "false" : "true"}
      width=${message.media.width} height=${message.media.height} onLoad=${() => setHere(true)} onClick=${onZoom} /></div>`;
}

// `pictures`: the messages with a picture, the oldest first. `names` gives the name of a sender.
function Viewer({ pictures, first, names, onClose }) {
  const [shown, setShown] = d(first);
  const [isZoomed, setZoomed] = d(false);
  const at = pictures.findIndex(({ id }) => id === shown);
  const message = pictures[at];
  const step = (by) => {
    if (!pictures[at + by]) return;
    setShown(pictures[at + by].id);
    setZoomed(false);
  };
  // It was deleted meanwhile.
  A(() => {
    if (!message) onClose();
  }, [message]);
  if (!message) return null;
  const onKeyDown = (event) => {
    // Where the picture scrolls, the arrows scroll it.
    if (event.ctrlKey || event.metaKey || event.altKey || isZoomed) return;
    const forward = direction() === "rtl" ? -1 : 1;
    const by = { ArrowRight: forward, ArrowLeft: -forward }[event.key];
    if (by) step(by);
  };
  const zoom = () => setZoomed(!isZoomed);
  const tools = html`<time class="muted small" datetime=${message.created_at}>${dateTime(message.created_at)}</time>
    <button type="button" class="icon-button" aria-label=${isZoomed ? t("Zoom out") : t("Zoom in")} onClick=${zoom}><${Icon} name=${isZoomed ? "zoomOut" : "zoomIn"} /></button>
    <a class="icon-button" href=${parley.mediaUrl(message.media_url)} download aria-label=${t("Download")}><${Icon} name="download" /></a>`;
  const name = names(message.sender_id);
  return html`<${Dialog} title=${name} tools=${tools} className="viewer" onKeyDown=${onKeyDown} onClose=${onClose}>
    <div class="viewer-line">
      <button type="button" class="icon-button" aria-label=${t("Previous image")} aria-disabled=${at === 0} onClick=${() => step(-1)}><${Icon} name="back" /></button>
      <${Picture} key=${message.id} message=${message} name=${name} isZoomed=${isZoomed} onZoom=${zoom} />
      <button type="button" class="icon-button" aria-label=${t("Next image")} aria-disabled=${at === pictures.length - 1} onClick=${() => step(1)}><${Icon} name="next" /></button>
    </div>
    ${message.body && html`<p class="viewer-text" dir="auto">${message.body}</p>`}<//>`;
}

export { Viewer as default };
