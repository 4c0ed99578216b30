// An app without the DOM library, such as a bot or a React Native app: the compiler holds what is right here.
import { Parley, type ShownMessage } from "parley";
import { prepareCalls } from "parley/calls";
import { useConversations, useMessages } from "parley/react";

declare const console: { log(...values: unknown[]): void };

const parley = new Parley({ baseUrl: "https://chat.example.com" });
const list = parley.store.messages(9);
const bodies: (string | null)[] = (list.getSnapshot().messages ?? []).map((message: ShownMessage) => message.body);
const first = parley.store.conversations.select(({ conversations }) => conversations?.[0]);
const off: () => void = first.subscribe(() => void first.getSnapshot()?.other_user.first_name);
for (const message of list.getSnapshot().messages ?? []) {
  // Without an id it waits, and has the reason of a failure.
  if (message.id === null) console.log(message.state, message.error?.code, message.client_id.length);
  else console.log(message.id.toFixed());
}
void prepareCalls().then(off);

export function useIt(): string {
  const names = useConversations(({ conversations }) => conversations?.map(({ other_user: { first_name } }) => first_name));
  const { messages, hasOlder, loadOlder, send } = useMessages(9);
  if (hasOlder) void loadOlder();
  send("hello", { reply_to_id: messages?.[0]?.id ?? null });
  // @ts-expect-error: null until they were loaded
  messages.length;
  return [...(names ?? []), ...bodies, Parley.version].join();
}
