import { importAgain, sleep } from "./environment.js";

const TRIES = 6;
const WAIT_MS = 10_000;
const LEAVE_TRIES = 30;
const PAUSE_MS = 300;
// The wait between two tries of a command that is refused while a former socket counts as open.
const CONFLICT_PAUSE_MS = 1_000;
const BIND_TRIES = 60;
const AFTER_EXPIRY_MS = 8_000;

/** Loaded with the first call: most pages never have one. */
export const loadModules = () =>
  Promise.all([importAgain("link.js", () => import("./link.js")), importAgain("media.js", () => import("./media.js"))]);

/** Errors that may not occur on another device of the user. */
export const isAboutDevices = ({ code = "" }) =>
  code.startsWith("devices_") || ["microphone_denied", "calls_unsupported"].includes(code);

/** Sends a command of a call until it is answered; repeating one changes nothing. */
export function ask(parley, call, type, data) {
  return persist(parley, call, () => parley.command(type, call.id === null ? data : { call_id: call.id, ...data }));
}

/** The ICE servers of a call. */
export async function routeOf(parley, call) {
  const { ok, ...route } = await persist(parley, call, () => parley.calls.iceServers({ call_id: call.id }));
  return route;
}

/** Tries again while the server cannot be reached: it may be restarting. */
async function persist(parley, call, work) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await parley.calls.whenOnline(WAIT_MS);
      return await work();
    } catch (error) {
      if (error.status !== 0 || attempt >= TRIES || !call.isLive) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Sends a command of a bound device. After a kill of the server, the device's former socket counts as open for some
 * seconds: the command is refused until then.
 */
export async function askBound(parley, call, type, data = {}) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(parley, call, type, data);
    } catch (error) {
      if (error.code !== "call_conflict" || attempt >= BIND_TRIES || !call.isLive) throw error;
      await sleep(CONFLICT_PAUSE_MS);
    }
  }
}

/** Reports to the server that this participant has left; retries if necessary. */
export async function leave(parley, callId, type, data) {
  let command = type;
  for (let attempt = 1; attempt <= LEAVE_TRIES; attempt += 1) {
    try {
      await parley.calls.whenOnline(WAIT_MS);
      await parley.command(command, { call_id: callId, ...data });
      return;
    } catch (error) {
      if (error.code === "call_conflict") {
        // Another device has answered, or the call is over.
        if (command === "call.decline" || (await hasEnded(parley, callId))) return;
        // It was answered at the same moment.
        if (command === "call.cancel") command = "call.hangup";
        // For some seconds the server still counts this device's former socket as open.
        else await sleep(CONFLICT_PAUSE_MS);
      } else if (error.status !== 0) return;
      else await sleep(PAUSE_MS);
    }
  }
}

/** The newest call of the user, once the server can be reached again; undefined when that takes too long. */
export async function newestCall(parley) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await parley.calls.whenOnline(WAIT_MS);
      return (await parley.calls.list({ limit: 1 })).calls[0];
    } catch (error) {
      if (!error.isTemporary || attempt >= TRIES) return undefined;
      await sleep(PAUSE_MS);
    }
  }
}

async function hasEnded(parley, callId) {
  try {
    return (await parley.calls.get({ call_id: callId })).call.state === "ended";
  } catch (error) {
    return !error.isTemporary;
  }
}

/** Ends the ringing at the call's deadline, even if the event of its end does not arrive. Returns the timer. */
export function watchExpiry(parley, call, row) {
  const wait = Date.parse(row.expires_at) - parley.now() + AFTER_EXPIRY_MS;
  return setTimeout(
    async () => {
      try {
        call.update((await parley.calls.get({ call_id: row.id })).call);
      } catch {
        call.finish("missed", "missed");
      }
    },
    Math.max(1000, wait),
  );
}
