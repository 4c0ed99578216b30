// The only connection of this window to the API.
import { Client } from "../sdk/parley/client.js";
import { ParleyError } from "../sdk/parley/errors.js";
import { ofBrowser, ofWindow, storedHere } from "./lib/stored.js";

// A demo user belongs to one window (session storage), so that one browser can show two of them side by side.
export const OWN_WINDOW = "parley.window";

export const parley = new Client({ storage: storedHere.getItem(OWN_WINDOW) ? ofWindow : ofBrowser });

// The reply, unless another user is signed in by the time it is here, or none.
export async function forThisUser(request) {
  const { userId } = parley.session;
  const reply = await request;
  if (parley.session.userId !== userId) throw new ParleyError("aborted");
  return reply;
}
