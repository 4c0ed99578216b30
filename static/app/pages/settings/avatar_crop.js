// The part of a picture that becomes the avatar: moved by pointer or arrow keys, enlarged by a slider.
import { parley } from "../../client.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Alert } from "../../ui/alert.js";
import { Dialog } from "../../ui/dialog.js";
import { Form, Submit, useForm } from "../../ui/forms.js";

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

export function CropDialog({ file, onDone, onClose }) {
  const [picture, setPicture] = useState(null);
  const [problem, setProblem] = useState("");
  const [view, setView] = useState({ x: 0, y: 0, zoom: 1 });
  const canvas = useRef(null);
  const [canRead] = useState(canReadCanvas);
  const drag = useRef(null);
  useEffect(() => {
    let wanted = true;
    createImageBitmap(file).then(
      (bitmap) => (wanted ? setPicture(bitmap) : bitmap.close()),
      () => wanted && setProblem(t("This picture cannot be read.")),
    );
    return () => {
      wanted = false;
    };
  }, [file]);
  useLayoutEffect(() => {
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
