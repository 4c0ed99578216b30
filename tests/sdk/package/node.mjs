// The installed package in Node: its entries, the server's rendering of the hooks, a worker.
import { createElement, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { Worker } from "node:worker_threads";
import { LIMITS, Parley, ParleyError } from "parley";
import { prepareCalls } from "parley/calls";
import * as hooks from "parley/react";

class NoSocket {}
const client = new Parley({ baseUrl: "https://chat.example.com", WebSocket: NoSocket });

function App() {
  const { conversations, isLoading } = hooks.useConversations();
  const list = hooks.useMessages(1);
  const first = hooks.useConversations(({ conversations: all }) => all?.[0]?.id ?? "none");
  const { notifications } = hooks.useNotifications();
  const { message_unread_count: unread } = hooks.useUnread();
  const shown = [conversations, isLoading, list.messages, first, notifications, unread, hooks.useTyping(1).length];
  shown.push(hooks.usePresence(7), hooks.useCall(), hooks.useStatus(), hooks.useUser(), hooks.useConversation(1) ?? "unknown");
  return createElement("p", null, JSON.stringify(shown));
}

const html = renderToString(createElement(StrictMode, null, createElement(hooks.ParleyProvider, { client }, createElement(App))));
let withoutProvider = "";
try {
  renderToString(createElement(App));
} catch (error) {
  withoutProvider = error.message;
}
const code = `
  const { parentPort } = require("node:worker_threads");
  import("parley").then(({ Parley }) => parentPort.postMessage(Parley.version));
`;
const fromWorker = await new Promise((resolve, reject) => {
  new Worker(code, { eval: true }).once("message", resolve).once("error", reject);
});
console.log(
  JSON.stringify({
    html: html.replace(/&quot;/g, '"'),
    withoutProvider,
    version: Parley.version,
    fromWorker,
    limit: LIMITS.messageLength,
    isError: new ParleyError("network_error").isTemporary,
    calls: (await prepareCalls()).length,
  }),
);
client.close();
