// The call of this window, and who the other participant is.
import { useEffect } from "../lib/html.js";
import { useStore } from "../lib/store.js";
import { store } from "./store.js";

const MISSED = ["missed", "canceled", "busy"];

export const isMissed = ({ caller_id: caller, outcome }, userId) => caller !== userId && MISSED.includes(outcome);

export const dismiss = () => store.calls.dismiss();

// Drawn anew with each change of it.
export const useCall = () => useStore(store.calls, ({ current }) => current)?.call ?? null;

// The other participant of a conversation; null until loaded.
export function usePeer(conversationId) {
  useEffect(() => {
    if (conversationId) peerOf(conversationId).catch(() => {});
  }, [conversationId]);
  return useStore(store.conversations, ({ byId }) => byId[conversationId]?.other_user ?? null);
}

export const peerOf = async (conversationId) => (await store.conversations.loadOne(conversationId)).other_user;
