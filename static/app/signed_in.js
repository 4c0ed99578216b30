// Loaded for signed-in users only: their state, the navigation, and the style sheets of those pages.
import { listen as listenToNotifications } from "./chat/desktop_notifications.js";
import { parley } from "./client.js";
import { config } from "./config.js";
import { listen as listenToDrafts } from "./state/drafts.js";
import { listen as listenToRemovals, sendRemovals } from "./state/removals.js";
import { store } from "./state/store.js";

export { Navigation } from "./navigation.js";

function addSheet(address) {
  return new Promise((resolve) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

export function prepare() {
  for (const listen of [listenToRemovals, listenToNotifications, listenToDrafts]) listen();
  // Every page needs them: for the names of those who call.
  parley.on("reload", () => void store.conversations.load().catch(() => {}));
  return Promise.all(config.sheets.map(addSheet));
}

const FINISH_MS = 2000;

// Before the user signs out: sends what could not be sent after that, unless it takes too long.
export const finish = () => Promise.race([sendRemovals(), new Promise((resolve) => setTimeout(resolve, FINISH_MS))]);
