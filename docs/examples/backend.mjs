// A team's backend in JavaScript (Node 18 or newer): creates a user, opens a session, reads events, receives them.
//
//     CHAT_URL=http://127.0.0.1:8000 CHAT_KEY=sk_… CHAT_WEBHOOK_KEY=whsec_… node docs/examples/backend.mjs 9001
//
// The signature is checked by hand here; the package `standardwebhooks` does the same.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { CHAT_URL, CHAT_KEY, CHAT_WEBHOOK_KEY } = process.env;
const secret = Buffer.from(CHAT_WEBHOOK_KEY.replace(/^whsec_/, ""), "base64");

export async function call(method, path, body) {
  const reply = await fetch(`${CHAT_URL}/api/v1/server/${path}`, {
    method,
    headers: { Authorization: `Bearer ${CHAT_KEY}`, "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const data = await reply.json();
  if (!data.ok) throw new Error(`${data.error}: ${data.message}`);
  return data;
}

// A session token for a customer who has signed in here; creates the user if need be.
export async function tokenFor(customer) {
  const { user } = await call("POST", "users", customer);
  return (await call("POST", `users/${user.id}/sessions`, { device_name: "Shop app" })).token;
}

export async function catchUp(after) {
  const events = [];
  for (;;) {
    const query = new URLSearchParams({ limit: "1000", ...(after === undefined ? {} : { after: String(after) }) });
    const page = await call("GET", `events?${query}`);
    events.push(...page.events);
    if (!page.has_more) return events;
    after = page.events.at(-1).id;
  }
}

export function isGenuine(headers, body) {
  const id = headers["webhook-id"], timestamp = headers["webhook-timestamp"];
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const expected = Buffer.from(createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest("base64"));
  return String(headers["webhook-signature"]).split(" ").some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ""));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

if (process.argv[2]) {
  const seen = new Set();
  createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
    if (!seen.has(request.headers["webhook-id"])) {
      seen.add(request.headers["webhook-id"]);
      console.log(body.toString());
    }
    response.writeHead(204).end();
  }).listen(Number(process.argv[2]), "127.0.0.1", async () => {
    const token = await tokenFor({ email: "js@example.com", first_name: "Jo", last_name: "Summers", external_id: "js-1" });
    const missed = await catchUp();
    for (const event of missed) seen.add(event.webhook_id); // the chat may still try to send it
    console.log(JSON.stringify({ token_length: token.length, missed: missed.length }));
  });
}
