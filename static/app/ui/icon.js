// Icons drawn with lines, in the colour of the text beside them.
import { html } from "../lib/html.js";

const PATHS = {
  back: "M15 5l-7 7 7 7",
  bell: "M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15zM10 20.5a2.2 2.2 0 0 0 4 0",
  block: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.6 5.6l12.8 12.8",
  camera: "M3 7h11a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zM15 11l6-3.5v9L15 13",
  cameraOff: "M3 7h11a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zM15 11l6-3.5v9L15 13M3 3l18 18",
  chats: "M4 5h16v11H9l-5 4z",
  check: "M4 12.5l5 5L20 6.5",
  clear: "M4 5h16v11H9l-5 4zM9 8l6 5M15 8l-6 5",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  down: "M6 9l6 6 6-6",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  flag: "M5 21V4h13l-3 4.5 3 4.5H5",
  hangup: "M3 14c5-5 13-5 18 0l-2.2 3-4-1.4v-2.4a12 12 0 0 0-5.6 0v2.4l-4 1.4z",
  fullScreen: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  image: "M4 5h16v14H4zM4 16l4.5-4.5L13 16l3-3 4 4M15.5 9.5v.1",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  microphone: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4",
  microphoneOff: "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4M4 3l16 18",
  more: "M12 5.5v.1M12 12v.1M12 18.5v.1",
  incoming: "M19 5 6 18M6 9v9h9",
  mute: "M6 16V11a6 6 0 0 1 9.5-4.9M18 11v5l1.5 2h-15M10 20.5a2.2 2.2 0 0 0 4 0M4 4l16 16",
  next: "M9 5l7 7-7 7",
  outgoing: "M5 19 18 6M9 6h9v9",
  phone: "M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a1.5 1.5 0 0 1-1.6 1.5A16 16 0 0 1 3.5 5.6 1.5 1.5 0 0 1 5 4z",
  switchCamera:
    "M4 9a1 1 0 0 1 1-1h2l1.5-2h7L17 8h2a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM9 13a3 3 0 0 1 5.2-2M15 13a3 3 0 0 1-5.2 2M14.5 9v2h-2M9.5 17v-2h2",
  redial: "M5 12a7 7 0 1 0 2.2-5.1M7 3v4h4",
  reply: "M10 6 4 12l6 6M4 12h9c4 0 7 2 7 6",
  screen: "M3 5h18v11H3zM8 20h8M12 16v4",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5",
  send: "M4 12 20 4l-5 16-3.5-6.5z",
  settings:
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.3l2.1 2.1M16.6 16.6l2.1 2.1M18.7 5.3l-2.1 2.1M7.4 16.6l-2.1 2.1",
  smile: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 14.5a4.5 4.5 0 0 0 7 0M9 9.5v.1M15 9.5v.1",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  up: "M6 15l6-6 6 6",
  user: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0",
  zoomIn: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5M8 11h6M11 8v6",
  zoomOut: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5M8 11h6",
};

export function Icon({ name, size = 22 }) {
  return html`<svg class=${`icon icon-${name}`} viewBox="0 0 24 24" width=${size} height=${size} aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} /></svg>`;
}
