// An app's use of the SDK: the compiler holds what is right here, and refuses what is marked.
import { LIMITS, newClientId, Parley, ParleyError, type Call, type OutboxItem } from "../../../static/sdk/parley.js";

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
  if (file.size > LIMITS.imageBytes) return null;
  const options = { onProgress: (loaded: number, total: number) => console.log(loaded / total) };
  const { message } = await parley.messages.sendImage({ conversation_id, file, client_id: newClientId() }, options);
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
