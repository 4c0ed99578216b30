/**
 * The Parley SDK: accounts, messages, notifications and calls behind one object.
 * An ES module without dependencies, for browsers and Node 20 or later. Types: parley.d.ts.
 */
import { Client } from "./parley/client.js";
import { Store } from "./parley/store.js";
import { VERSION } from "./parley/version.js";

export { randomId as newClientId } from "./parley/environment.js";
export { ParleyError } from "./parley/errors.js";
export { LIMITS, prepareImage } from "./parley/limits.js";

/**
 * The option `storage` for a storage whose methods return promises, such as AsyncStorage of React Native: what it holds
 * is read once, and written as it changes.
 */
export async function openStorage(storage, { name = "parley" } = {}) {
  const { MirroredStorage } = await import("./parley/mirrored_storage.js");
  return MirroredStorage.open(storage, name);
}

export class Parley extends Client {
  static version = VERSION;
  #store = null;

  constructor(options = {}) {
    checkPlatform(options);
    super(options);
    this.once("ready", ({ version }) => warnOfAge(version, this.baseUrl));
  }

  /** The state of the signed-in user. It follows the events from its first use on. */
  get store() {
    return (this.#store ??= new Store(this));
  }

  close() {
    this.#store?.close();
    super.close();
  }
}

/** One sentence about what is missing, instead of an odd failure later. */
function checkPlatform(/** @type {any} */ { baseUrl, fetch = globalThis.fetch, WebSocket = globalThis.WebSocket }) {
  const address = baseUrl ?? globalThis.location?.origin ?? "";
  if (!/^https?:/.test(address)) {
    throw new TypeError(
      'Parley needs the address of the service: new Parley({ baseUrl: "https://chat.example.com" }).',
    );
  }
  if (!fetch) throw new TypeError("Parley needs fetch, which this platform lacks: pass one as the option fetch.");
  if (WebSocket === undefined) {
    throw new TypeError(
      "Parley needs WebSocket: Node 22 has it, Node 20 with --experimental-websocket. Pass a class as the option WebSocket, " +
        "or null for an app that does not connect.",
    );
  }
}

/** A server of a later minor version has what this SDK does not know. */
function warnOfAge(version, baseUrl) {
  const [server, own] = [version, VERSION].map((text) => (text ?? "").split(".").map(Number));
  if (!(server[0] > own[0] || (server[0] === own[0] && server[1] > own[1]))) return;
  const address = `${baseUrl}/sdk/parley-${version}.tgz`;
  console.warn(
    `The Parley SDK of this app is version ${VERSION}, its server ${version}. Update it: npm install ${address}`,
  );
}
