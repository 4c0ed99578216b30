import { anySignal, sleep, timeoutSignal } from "./environment.js";
import { ParleyError } from "./errors.js";
import { OPERATIONS } from "./operations.js";

const REPEATABLE = new Set(["GET", "PUT", "DELETE"]);
const REPLACES_TOKEN = new Set(["auth_change_password"]);
const DOWNLOADS = new Set(["auth_export"]);
const LONGEST_WAIT_SECONDS = 60;

/** Calls of the REST API: one method per operation id. */
export class Rest {
  #parley;
  #fetch;

  constructor(parley, fetch) {
    this.#parley = parley;
    this.#fetch = fetch;
  }

  /** The methods whose operation ids begin with `prefix`: `auth_two_step_enable` is `twoStepEnable`. */
  namespace(prefix) {
    const methods = {};
    for (const id of Object.keys(OPERATIONS)) {
      if (!id.startsWith(`${prefix}_`)) continue;
      const name = id.slice(prefix.length + 1).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
      methods[name] = (params, options) => this.call(id, params, options);
    }
    return methods;
  }

  /** The reply's body, or ParleyError. */
  async call(id, params = {}, options = {}) {
    const operation = OPERATIONS[id];
    if (!operation) throw new TypeError(`There is no operation ${id}.`);
    const [method, , , , { bearer }] = operation;
    const tries = options.retry ?? (method === "GET" ? 2 : 1);
    const isRepeatable = REPEATABLE.has(method) || params.client_id !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      const token = options.token ?? (await this.#tokenFor(id, bearer));
      const run = async () => {
        const reply = await this.#once(id, operation, params, { ...options, token });
        this.#parley.session.follow(id, reply, token);
        return reply;
      };
      try {
        return await (REPLACES_TOKEN.has(id) ? this.#parley.session.exclusively(run) : run());
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        if (error.status === 429) this.#parley.emit("ratelimited", { operation: id, retryAfter: error.retryAfter });
        // Another tab may have signed in again during this request.
        const isOurs = options.token === undefined && bearer === "bearer";
        if (isOurs && (await this.#parley.session.refused(error, token)) && attempt === 1) continue;
        if (bearer === "two_step" && options.token === undefined) this.#parley.session.twoStepRefused(error);
        const wait = isRepeatable && attempt < tries ? waitBefore(error, attempt, options.retry !== undefined) : null;
        if (wait === null) throw error;
        await sleep(wait);
      }
    }
  }

  async #tokenFor(id, bearer) {
    if (bearer !== "bearer" && bearer !== "two_step") return null;
    const session = this.#parley.session;
    const token = bearer === "bearer" ? session.token : session.twoStepToken;
    if (!token) throw new ParleyError("token_invalid", { message: `${id} needs a sign-in.`, status: 401 });
    if (bearer === "bearer") session.renewWhenDue();
    return token;
  }

  async #once(id, operation, params, options) {
    const [method, , , bodyKeys, { multipart, action }] = operation;
    const { url, rest } = addressOf(this.#parley.baseUrl, id, operation, params);
    const headers = { Accept: "application/json" };
    if (this.#parley.language) headers["Accept-Language"] = this.#parley.language;
    if (options.token) headers.Authorization = `Bearer ${options.token}`;
    if (action && params.action_token) headers["X-Action-Token"] = params.action_token;
    if (["auth_login", "auth_verify", "auth_two_step"].includes(id)) this.#nameTheDevice(headers);
    let body;
    if (multipart) {
      body = new FormData();
      for (const [key, value] of Object.entries(rest)) body.append(key, value);
    } else if (bodyKeys.length > 0) {
      headers["Content-Type"] = "application/json";
      body = JSON.stringify(rest);
    }
    const signals = options.signal ? [options.signal] : [];
    // A stuck message would hold back those behind it, a stuck renewal of the token all tabs. Uploads and downloads
    // have no time limit.
    if (!multipart && !DOWNLOADS.has(id)) signals.push(timeoutSignal(this.#parley.timeout));
    const request = { method, url, headers, body, signal: anySignal(signals), keepalive: options.keepalive ?? false };
    const sent = Date.now();
    const answer =
      options.onProgress && typeof XMLHttpRequest === "function"
        ? await upload(request, options.onProgress)
        : await this.#send(request);
    this.#parley.clock.observe(answer.headers.get("Date"), sent);
    return read(answer);
  }

  #nameTheDevice(headers) {
    const { deviceName, session } = this.#parley;
    // A header has one byte for each character, so `fetch` throws at "Ann’s phone".
    if (deviceName) headers["X-Device-Name"] = String.fromCharCode(...new TextEncoder().encode(deviceName));
    // Browsers carry a cookie that scripts cannot read.
    if (session.deviceToken) headers["X-Device-Token"] = session.deviceToken;
  }

  async #send({ url, ...request }) {
    try {
      return await this.#fetch.call(undefined, url, { ...request, cache: "no-store" });
    } catch (error) {
      throw failed(error, request.signal);
    }
  }
}

/** The address, and what remains for the body. */
function addressOf(baseUrl, id, [, path, queryKeys, bodyKeys, { action }], params) {
  const rest = {};
  const query = new URLSearchParams();
  let filled = path;
  for (const [key, value] of Object.entries(params)) {
    if (value === undefined || (action && key === "action_token")) continue;
    if (path.includes(`{${key}}`)) filled = filled.replace(`{${key}}`, encodeURIComponent(value));
    else if (queryKeys.includes(key)) value === null || query.set(key, value);
    else if (bodyKeys.includes(key)) rest[key] = value;
    else throw new TypeError(`${id} has no parameter ${key}.`);
  }
  const missing = /\{(\w+)\}/.exec(filled);
  if (missing) throw new TypeError(`${id} needs ${missing[1]}.`);
  const text = query.toString();
  return { url: `${baseUrl}${filled}${text ? `?${text}` : ""}`, rest };
}

async function read(answer) {
  const isJson = answer.headers.get("Content-Type")?.includes("json");
  if (answer.ok && !isJson) return answer.blob();
  let body = null;
  try {
    body = isJson ? await answer.json() : null;
  } catch (error) {
    throw failed(error);
  }
  if (answer.ok && body?.ok !== false) return body;
  throw ParleyError.fromBody(body, answer.status, answer.headers);
}

/** Only XMLHttpRequest reports the progress of an upload. */
function upload({ method, url, headers, body, signal }, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
    request.onload = () => {
      const lines = request.getAllResponseHeaders().trim().split(/\r?\n/).filter(Boolean);
      /** @type {[string, string][]} */
      const pairs = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
      resolve(new Response(request.responseText, { status: request.status, headers: pairs }));
    };
    request.onerror = () => reject(failed(new Error("The upload failed.")));
    request.onabort = () => reject(new ParleyError("aborted"));
    if (signal?.aborted) {
      reject(new ParleyError("aborted"));
      return;
    }
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function failed(error, signal) {
  const isLate = signal?.reason?.name === "TimeoutError";
  if ((signal?.aborted && !isLate) || error?.name === "AbortError") return new ParleyError("aborted", { cause: error });
  return new ParleyError("network_error", { message: "The server cannot be reached.", cause: error });
}

/** Milliseconds until the next try; null if there should not be one. */
function waitBefore(error, attempt, isAsked) {
  if (error.code === "aborted") return null;
  if (error.status === 429 && !isAsked) return null;
  if (error.status !== 0 && error.status !== 429 && error.status !== 503) return null;
  if (error.retryAfter !== null && error.retryAfter > LONGEST_WAIT_SECONDS) return null;
  const least = (error.retryAfter ?? 0) * 1000;
  return least + Math.random() * 300 * 2 ** attempt;
}
