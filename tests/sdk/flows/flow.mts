// A flow through the generated client: sign in, start a conversation, send, list, and read an error by its code.
import createClient from "openapi-fetch";
import type { components as frames } from "./events.js";
import type { components, paths } from "./schema.js";

type ErrorCode = components["schemas"]["ErrorCode"];
type ServerEvent = frames["schemas"]["Event"];

const [BASE, EMAIL, PASSWORD, OTHER] = [process.env.BASE!, process.env.EMAIL!, process.env.PASSWORD!, Number(process.env.OTHER)];

const anonymous = createClient<paths>({ baseUrl: BASE });
const login = await anonymous.POST("/api/v1/auth/login", { body: { email: EMAIL, password: PASSWORD } });
if (!login.data) throw new Error(login.error.message);
if ("two_step_required" in login.data) throw new Error(login.data.hint);
const { token, user } = login.data;

const api = createClient<paths>({ baseUrl: BASE, headers: { Authorization: `Bearer ${token}` } });
const started = await api.POST("/api/v1/messages/conversations", { body: { user_id: OTHER } });
if (!started.data) throw new Error(started.error.message);
const path = { conversation_id: started.data.conversation.id };
const sent = await api.POST("/api/v1/messages/conversations/{conversation_id}/messages", {
  params: { path },
  body: { body: "typed", client_id: `typed-${Date.now()}` },
});
if (!sent.data) throw new Error(sent.error.message);
const listed = await api.GET("/api/v1/messages/conversations/{conversation_id}/messages", { params: { path, query: { limit: 1 } } });
const newest = listed.data?.messages[0];
if (newest?.id !== sent.data.message.id || newest.sender_id !== user.id) throw new Error("another message");

const refused = await api.GET("/api/v1/messages/conversations/{conversation_id}", { params: { path: { conversation_id: 999999 } } });
const code: ErrorCode | undefined = refused.error?.error;
const isFailure: false | undefined = refused.error?.ok;
if (code !== "conversation_not_found" || isFailure !== false) throw new Error(String(code));

// A code that a newer server has added is a text like any other.
export const words = (received: ErrorCode): string => (received === "rate_limited" ? "Wait a moment." : received);

// So is an outcome of a call, and the kind of a signal.
export const ended = (call: components["schemas"]["Call"]): string => (call.outcome === "missed" ? "missed" : String(call.outcome));
const signal: frames["schemas"]["EventCallSignal"] = {
  type: "call.signal", data: { call_id: 4, kind: "hologram", payload: {} },
};

// The type of an event tells what its data holds.
export const told = (event: ServerEvent): string => {
  if (event.type === "message.new") return event.data.message.body ?? "";
  if (event.type === "typing") return String(event.data.is_typing);
  return event.type;
};
if (signal.data.kind !== "hologram") throw new Error(signal.data.kind);
console.log("done", told({ type: "typing", data: { conversation_id: 1, user_id: 2, is_typing: true } }));
