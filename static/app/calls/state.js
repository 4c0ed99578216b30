// The call of this window, for the components that show it.
import { forThisUser, parley } from "../client.js";
import { useEffect, useState } from "../html.js";
import { createStore, useStore } from "../store.js";

const current = createStore({ call: null, change: 0 });
const people = new Map();

export function dismiss() {
  current.set({ call: null });
}

// Another user may sign in next, to whom the other participant is someone else.
function forget() {
  dismiss();
  people.clear();
}

function follow(call) {
  current.set({ call });
  const changed = () => current.get().call === call && current.set(({ change }) => ({ change: change + 1 }));
  call.on("change", changed);
  call.on("ended", changed);
}

// Once, by the layer that is on every page.
export function useCalls() {
  useEffect(() => {
    if (parley.calls.current) follow(parley.calls.current);
    const offs = [parley.on("call", ({ call }) => follow(call)), parley.on("signedout", forget)];
    return () => offs.forEach((off) => off());
  }, []);
  useStore(current, (state) => state.change);
  return useStore(current, (state) => state.call);
}

// The other participant of a conversation; null until loaded.
export function usePeer(conversationId) {
  const [peer, setPeer] = useState(people.get(conversationId) || null);
  useEffect(() => {
    let wanted = true;
    setPeer(people.get(conversationId) || null);
    if (conversationId) peerOf(conversationId).then((found) => wanted && setPeer(found), () => {});
    return () => {
      wanted = false;
    };
  }, [conversationId]);
  return peer;
}

export async function peerOf(conversationId) {
  if (!people.has(conversationId)) {
    const { conversation } = await forThisUser(parley.messages.getConversation({ conversation_id: conversationId }));
    people.set(conversationId, conversation.other_user);
  }
  return people.get(conversationId);
}

export function remember(conversations) {
  for (const { id, other_user: user } of conversations) people.set(id, user);
}
