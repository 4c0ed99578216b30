// Draws a blurhash (https://blurha.sh) on a small canvas: the colours of an image before it is there.
import { html, useEffect, useRef } from "../lib/html.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
const SIZE = 24;

const number = (text) => [...text].reduce((value, digit) => value * 83 + DIGITS.indexOf(digit), 0);
const toLinear = (value) => (value <= 10.31475 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const signedSquare = (value) => Math.sign(value) * value * value;

function toByte(value) {
  const limited = Math.max(0, Math.min(1, value));
  return Math.round((limited <= 0.0031308 ? limited * 12.92 : 1.055 * limited ** (1 / 2.4) - 0.055) * 255);
}

function colours(hash) {
  const size = number(hash[0]);
  const across = (size % 9) + 1;
  const down = Math.floor(size / 9) + 1;
  if (hash.length !== 4 + 2 * across * down) return null;
  const largest = (number(hash[1]) + 1) / 166;
  const found = [];
  for (let index = 0; index < across * down; index += 1) {
    if (index === 0) {
      const value = number(hash.slice(2, 6));
      found.push([value >> 16, (value >> 8) & 255, value & 255].map(toLinear));
    } else {
      const value = number(hash.slice(4 + index * 2, 6 + index * 2));
      const parts = [Math.floor(value / 361), Math.floor(value / 19) % 19, value % 19];
      found.push(parts.map((part) => signedSquare((part - 9) / 9) * largest));
    }
  }
  return { across, down, found };
}

function pixels(hash, width = SIZE, height = SIZE) {
  const parts = colours(hash);
  if (!parts) return null;
  const { across, down, found } = parts;
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const sum = [0, 0, 0];
      for (let j = 0; j < down; j += 1) {
        for (let i = 0; i < across; i += 1) {
          const weight = Math.cos((Math.PI * x * i) / width) * Math.cos((Math.PI * y * j) / height);
          const colour = found[i + j * across];
          for (let channel = 0; channel < 3; channel += 1) sum[channel] += colour[channel] * weight;
        }
      }
      data.set([...sum.map(toByte), 255], (y * width + x) * 4);
    }
  }
  return data;
}

export function Blurhash({ hash }) {
  const canvas = useRef(null);
  useEffect(() => {
    const data = hash && pixels(hash);
    if (data) canvas.current.getContext("2d").putImageData(new ImageData(data, SIZE, SIZE), 0, 0);
  }, [hash]);
  return html`<canvas ref=${canvas} class="blurhash" width=${SIZE} height=${SIZE} aria-hidden="true"></canvas>`;
}
