// An app's use of the SDK: the compiler holds what is right here, and refuses what is marked.
import {
  LIMITS, newClientId, Parley, ParleyError, prepareImage, type api, type Call, type Known, type OutboxItem, type ParleyErrorCode,
} from "../../../static/sdk/parley.js";

const parley = new Parley({ baseUrl: "https://chat.example.com", language: "de", storage: sessionStorage });

export async function signIn(email: string, password: string): Promise<string | null> {
  try {
    const reply = await parley.auth.login({ email, password });
    if ("two_step_required" in reply) return parley.session.twoStep?.hint ?? "";
    parley.connect();
    return null;
  } catch (error) {
    if (error instanceof ParleyError && error.code === "rate_limited") return `Wait ${error.retryAfter ?? 0} s`;
    throw error;
  }
}

export async function newest(conversation_id: number): Promise<number | undefined> {
  const { messages, has_more } = await parley.messages.list({ conversation_id, limit: 50 }, { retry: 3 });
  const more: boolean = has_more;
  return more ? messages[0]?.id : undefined;
}

export function listen(show: (text: string) => void): () => void {
  parley.on("status", ({ status, retryAt }) => show(`${status} ${retryAt ?? ""}`));
  parley.on("signedout", ({ reason }) => show(reason));
  parley.on("outbox", ({ items }) => items.forEach((item: OutboxItem) => show(item.state)));
  parley.on("call.incoming", ({ call }) => ring(call));
  return parley.on("message.new", ({ message, unread_count }) => show(`${message.body ?? ""} ${unread_count.toFixed()}`));
}

function ring(call: Call): void {
  call.on("change", ({ state, quality, duration }) => console.log(state, quality, duration.toFixed()));
  void call.accept({ camera: false });
}

export async function image(conversation_id: number, file: File): Promise<string | null> {
  const smaller: File = await prepareImage(file, { maxBytes: LIMITS.imageBytes, maxSide: 4096 });
  const options = { onProgress: (loaded: number, total: number) => console.log(loaded / total) };
  const { message } = await parley.messages.sendImage({ conversation_id, file: smaller, client_id: newClientId() }, options);
  return parley.mediaUrl(message.media_url);
}

const sent = await parley.command("message.send", { conversation_id: 1, body: "hello" });
const id: number = sent.message.id;
console.log(id);

// @ts-expect-error: a body is missing
parley.messages.send({ conversation_id: 1 });
// @ts-expect-error: no such event
parley.on("message.nwe", () => {});
// @ts-expect-error: no such key
parley.auth.login({ mail: "alice@example.com", password: "secret" });
// @ts-expect-error: media is audio or video
parley.calls.invite({ conversation_id: 1, media: "smell" });

// Open lists: the known values narrow, an unknown one is a string that arrives in `default`.
const WORDS: Record<Known<api.MessageKind>, string> = { text: "a text", image: "a picture", call: "a call" };
export const word = (message: api.Message): string =>
  message.kind in WORDS ? WORDS[message.kind as Known<api.MessageKind>] : (message.body ?? "");
export function advice(error: ParleyError): string {
  switch (error.code) {
    case "rate_limited":
      return `Wait ${error.retryAfter ?? 0} s`;
    case "network_error":
      return "Offline";
    default: {
      const code: ParleyErrorCode = error.code;
      return `${code.toUpperCase()} ${error.status}`;
    }
  }
}
parley.on("*", (name, data) => {
  if (name === "message.new") console.log(data.message.kind === "image" ? data.message.media?.width : data.unread_count);
  else if (name === "status") console.log(data.reason === "too_many_sockets");
});
void parley.auth.actionChallenge({ action: "change_password" });

declare const failure: ParleyError;
// @ts-expect-error: no such code
export const code = failure.code === "rate_limitted";
// @ts-expect-error: no such kind
export const kind = (message: api.Message): boolean => message.kind === "picture";
// @ts-expect-error: no such outcome
export const outcome = (call: api.Call): boolean => call.outcome === "cancelled";
// @ts-expect-error: no such reason
parley.on("signedout", ({ reason }) => console.log(reason === "expired"));
// @ts-expect-error: no such reason
parley.on("reload", ({ reason }) => console.log(reason === "tooold"));
// @ts-expect-error: no such reason
export const end = (call: Call): boolean => call.endReason === "answered_elswhere";
// @ts-expect-error: no such event
parley.on("*", (name) => console.log(name === "message.nwe"));
// @ts-expect-error: no such action
void parley.auth.actionChallenge({ action: "change_pasword" });
