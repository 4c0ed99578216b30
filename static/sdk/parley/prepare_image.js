/** Prepares a picture for sending: a picture that the API accepts stays unchanged, a larger one is scaled. */
import { ParleyError } from "./errors.js";

// Every browser in use supports a canvas with this many pixels.
const CANVAS_PIXELS = 16_000_000;
const QUALITIES = [0.9, 0.8, 0.7];
const MOST_TRIES = 16;
const EXTENSIONS = { "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp" };
// The possible contents of a file that begins with `ftyp`: pictures and animations.
const BOXED = {
  avif: "image/avif",
  avis: "image/avif",
  heic: "image/heic",
  heix: "image/heic",
  mif1: "image/heic",
  heim: "image/heic",
  heis: "image/heic",
  hevc: "image/heic",
  hevx: "image/heic",
  msf1: "image/heic",
};
const MOVING = ["avis", "hevc", "hevx", "msf1"];

/**
 * Resolves to a File (a Blob where there are no files). Fails with a ParleyError: `unsupported_media_type` for what this
 * browser cannot decode, `file_too_large` for an animation over the limits, which would lose its frames, `canvas_blocked`
 * where the browser lets no page read what it draws.
 */
export async function prepare(file, { maxBytes, maxSide, maxPixels, types }) {
  const head = await bytesOf(file, 64);
  const type = typeOf(head);
  if (!type) throw new ParleyError("unsupported_media_type", { status: 415 });
  const picture = await decode(type === file.type ? file : new Blob([file], { type }));
  try {
    const { width, height } = picture;
    const isAccepted = types.includes(type);
    if (isAccepted && file.size <= maxBytes && Math.max(width, height) <= maxSide && width * height <= maxPixels) {
      return file.type === type ? file : named(file, type, file.name);
    }
    if (isAnimated(type, await bytesOf(file))) {
      throw isAccepted
        ? new ParleyError("file_too_large", { status: 413 })
        : new ParleyError("unsupported_media_type", { status: 415 });
    }
    return await scaled(file, picture, type, { maxBytes, maxSide, maxPixels });
  } finally {
    picture.close();
  }
}

async function bytesOf(file, length = file.size) {
  try {
    return new Uint8Array(await file.slice(0, length).arrayBuffer());
  } catch (cause) {
    // The file was moved or changed after it was chosen.
    throw new ParleyError("file_unreadable", { status: 400, cause });
  }
}

const text = (bytes, from, to) => String.fromCharCode(...bytes.subarray(from, to));

/** Detected from the content, because the name and type of a file may be wrong. */
function typeOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (text(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (/^GIF8[79]a/.test(text(bytes, 0, 6))) return "image/gif";
  if (text(bytes, 0, 4) === "RIFF" && text(bytes, 8, 12) === "WEBP") return "image/webp";
  if (text(bytes, 0, 2) === "BM") return "image/bmp";
  if (/^(II\*\0|MM\0\*)/.test(text(bytes, 0, 4))) return "image/tiff";
  return text(bytes, 4, 8) === "ftyp"
    ? (brandsOf(bytes)
        .map((brand) => BOXED[brand])
        .find(Boolean) ?? null)
    : null;
}

/** The first brand says what the file is, the others how it can also be read. */
function brandsOf(bytes) {
  const end = Math.min(bytes.length, new DataView(bytes.buffer).getUint32(0));
  const brands = [text(bytes, 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(text(bytes, at, at + 4));
  return brands;
}

function isAnimated(type, bytes) {
  if (type === "image/gif") return framesOfGif(bytes) > 1;
  if (type === "image/webp") return text(bytes, 12, 16) === "VP8X" && (bytes[20] & 2) !== 0;
  if (type === "image/png") return hasAnimationChunk(bytes);
  return ["image/avif", "image/heic"].includes(type) && MOVING.includes(brandsOf(bytes)[0]);
}

function framesOfGif(bytes) {
  const table = (flags) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const behindBlocks = (from) => {
    let at = from;
    while (bytes[at] > 0) at += bytes[at] + 1;
    return at + 1;
  };
  let at = 13 + table(bytes[10]);
  let frames = 0;
  while (at < bytes.length && frames < 2) {
    if (bytes[at] === 0x21) at = behindBlocks(at + 2);
    else if (bytes[at] === 0x2c) {
      frames += 1;
      at = behindBlocks(at + 11 + table(bytes[at + 9]));
    } else break;
  }
  return frames;
}

function hasAnimationChunk(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    const chunk = text(bytes, at + 4, at + 8);
    if (chunk === "acTL") return true;
    if (chunk === "IDAT") return false;
  }
  return false;
}

// --- Decoding -----------------------------------------------------------------------------------

/** {source, width, height, close} of the upright picture. */
async function decode(file) {
  for (const way of [asElement, asBitmap]) {
    try {
      return await way(file);
    } catch {
      // The other decoder may succeed.
    }
  }
  throw new ParleyError("unsupported_media_type", { status: 415 });
}

/** Takes less memory than a bitmap, because the browser decodes only what is drawn of a large photo. */
async function asElement(file) {
  const address = URL.createObjectURL(file);
  try {
    const source = new Image();
    await new Promise((resolve, reject) => {
      Object.assign(source, { onload: resolve, onerror: reject, src: address });
    });
    if (!source.naturalWidth) throw new Error("no size");
    return {
      source,
      width: source.naturalWidth,
      height: source.naturalHeight,
      close: () => URL.revokeObjectURL(address),
    };
  } catch (error) {
    URL.revokeObjectURL(address);
    throw error;
  }
}

async function asBitmap(file) {
  const source = await createImageBitmap(file, { imageOrientation: "from-image" });
  return { source, width: source.width, height: source.height, close: () => source.close() };
}

// --- Scaling ------------------------------------------------------------------------------------

async function scaled(file, picture, type, { maxBytes, maxSide, maxPixels }) {
  assertCanRead();
  const { width, height } = picture;
  const pixels = Math.min(CANVAS_PIXELS, maxPixels);
  let scale = Math.min(1, maxSide / Math.max(width, height), Math.sqrt(pixels / (width * height)));
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const canvas = draw(picture, scale);
    const hasHoles = type !== "image/jpeg" && isTransparent(canvas);
    let smallest = Infinity;
    for (const [wanted, quality] of encodings(type, hasHoles)) {
      const blob = await encoded(canvas, wanted, quality);
      if (blob?.size <= maxBytes) return named(blob, wanted, file.name);
      smallest = Math.min(smallest, blob?.size ?? Infinity);
    }
    scale *= Math.max(0.4, Math.min(0.85, Math.sqrt(maxBytes / smallest) * 0.95));
  }
  throw new ParleyError("file_too_large", { status: 413 });
}

/** The attempts in order: [type, quality]. Drawings stay PNG as long as they fit. */
function encodings(type, hasHoles) {
  const steps = (wanted) => QUALITIES.map((quality) => [wanted, quality]);
  if (type === "image/webp") return [...steps("image/webp"), ...(hasHoles ? [["image/png"]] : steps("image/jpeg"))];
  if (hasHoles) return [["image/png"]];
  return ["image/png", "image/gif"].includes(type) ? [["image/png"], ...steps("image/jpeg")] : steps("image/jpeg");
}

/** @returns {any} Where there is no document, an OffscreenCanvas: what is used of the two is the same. */
function canvasOf(width, height) {
  const canvas =
    typeof document === "undefined" ? new OffscreenCanvas(width, height) : document.createElement("canvas");
  return Object.assign(canvas, { width, height });
}

function draw({ source, width, height }, scale) {
  const canvas = canvasOf(Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale)));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function isTransparent(canvas) {
  const context = canvas.getContext("2d");
  const lines = Math.max(1, Math.floor(1_000_000 / canvas.width));
  for (let y = 0; y < canvas.height; y += lines) {
    const { data } = context.getImageData(0, y, canvas.width, Math.min(lines, canvas.height - y));
    for (let at = 3; at < data.length; at += 4) if (data[at] < 255) return true;
  }
  return false;
}

/** Null if the browser cannot write this type, or this size. */
async function encoded(canvas, type, quality) {
  const blob = canvas.convertToBlob
    ? await canvas.convertToBlob({ type, quality })
    : await new Promise((resolve) => canvas.toBlob(resolve, type, quality));
  return blob?.type === type ? blob : null;
}

/** Browsers that protect against fingerprinting return noise. */
function assertCanRead() {
  const context = canvasOf(2, 2).getContext("2d");
  context.fillStyle = "#336699";
  context.fillRect(0, 0, 2, 2);
  const { data } = context.getImageData(0, 0, 2, 2);
  const isTrue = data.every((value, place) => value === [0x33, 0x66, 0x99, 0xff][place % 4]);
  if (!isTrue) throw new ParleyError("canvas_blocked", { status: 400 });
}

function named(blob, type, name) {
  if (typeof File === "undefined") return new Blob([blob], { type });
  const stem = (name ?? "").replace(/\.[^.]*$/, "") || "image";
  return new File([blob], `${stem}.${EXTENSIONS[type] ?? type.split("/")[1]}`, { type });
}
