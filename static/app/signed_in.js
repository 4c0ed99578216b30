// Loaded for signed-in users only: the state of their chats and notifications, and the style sheets of those pages.
import { listen as listenToNotifications } from "./chat/desktop_notifications.js";
import { listen as listenToDrafts } from "./chat/drafts.js";
import { config } from "./config.js";
import { listen as listenToChats } from "./state/chats.js";
import { listen as listenToFeed, sendRemovals } from "./state/feed.js";
import { listen as listenToThreads } from "./state/thread.js";

function addSheet(address) {
  return new Promise((resolve) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

export function prepare() {
  for (const listen of [listenToChats, listenToThreads, listenToFeed, listenToNotifications, listenToDrafts]) listen();
  return Promise.all(config.sheets.map(addSheet));
}

const FINISH_MS = 2000;

// Before the user signs out: sends what could not be sent after that, unless it takes too long.
export const finish = () => Promise.race([sendRemovals(), new Promise((resolve) => setTimeout(resolve, FINISH_MS))]);
