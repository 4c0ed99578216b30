// State shared by the whole client: the signed-in user, the connection.
import { createStore } from "../lib/store.js";

export const app = createStore({
  user: null,
  // Signed in as a demo user for this window.
  isDemo: false,
  status: "connecting",
  retryAt: null,
  // What signed-in users need could not be loaded.
  isBroken: false,
  // Loaded with the rest of what they need.
  Navigation: null,
  // The user signs out: another page is about to be loaded.
  leaving: false,
});
