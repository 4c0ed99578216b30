// A page that a server renders and a browser takes over: what it shows at first is the same in both.
import { createElement, StrictMode } from "react";
import { ParleyProvider, useConversations, useMessages, useStatus, useUnread, useUser } from "parley/react";

function App() {
  const user = useUser();
  const status = useStatus();
  const { conversations } = useConversations();
  const { message_unread_count: unread } = useUnread();
  const { messages } = useMessages(conversations?.[0]?.id) ?? {};
  const shown = [user?.first_name ?? "signed out", status, conversations?.length ?? "not loaded", typeof unread];
  return createElement("p", { "data-shown": messages?.length ?? 0 }, shown.join(", "));
}

export const page = (client) =>
  createElement(StrictMode, null, createElement(ParleyProvider, { client }, createElement(App)));
