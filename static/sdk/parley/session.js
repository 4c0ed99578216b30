import { ParleyError } from "./errors.js";

const LONGEST_TIMER_MS = 3600_000;
const RETRY_MS = 30_000;
// The share of a token's life after which it is renewed; the rest is for times without a connection.
const RENEW_AFTER = 0.5;
// How many request time-outs to wait for a tab that replaces the token. Two tabs that do so at once get the same token.
const LOCK_SHARE = 0.3;
const ENDS = new Set(["token_revoked", "token_expired", "token_invalid", "account_blocked"]);
// After these the sign-in was ended, here or from another device (a lost laptop), so the user's data is removed.
const FORGETS = new Set(["signed_out", "token_revoked", "account_blocked"]);
const SIGNS_IN = new Set(["auth_login", "auth_verify", "auth_two_step", "auth_two_step_forgot"]);

/** The sign-in: follows the replies of the API, renews the token, and agrees with the other tabs. */
export class Session {
  #parley;
  #storage;
  #tabs;
  #keys;
  // The state that this tab last reported to its handlers.
  #known = null;
  #timer = null;
  #renewal = null;
  #parsed = { text: null, record: null };

  constructor(parley, storage, tabs) {
    this.#parley = parley;
    this.#storage = storage;
    this.#tabs = tabs;
    const { name } = parley;
    this.#keys = {
      record: `${name}.session`,
      twoStep: `${name}.two_step`,
      device: `${name}.device_token`,
      ended: `${name}.ended`,
    };
    this.#known = this.#record;
    tabs.on((message) => this.#onTabMessage(message));
    this.#schedule();
  }

  get token() {
    return this.#record?.token ?? null;
  }

  /** The account as last seen: fields of `user` in the replies of sign-in, `me` and profile. */
  get user() {
    return this.#record?.user ?? null;
  }

  get userId() {
    const record = this.#record;
    return record ? (record.user?.id ?? Number(claimsOf(record.token).sub)) : null;
  }

  get isSignedIn() {
    return this.#record !== null;
  }

  /** `{hint}` between the first and the second password. */
  get twoStep() {
    const pending = this.#read(this.#keys.twoStep);
    return pending ? { hint: pending.hint } : null;
  }

  get twoStepToken() {
    return this.#read(this.#keys.twoStep)?.token ?? null;
  }

  get deviceToken() {
    return this.#read(this.#keys.device);
  }

  cancelTwoStep() {
    this.#storage.removeItem(this.#keys.twoStep);
  }

  /** Ends the sign-in here at once, and on the server when it can be reached. */
  async signOut() {
    const { token } = this;
    if (!token) return;
    this.end("signed_out");
    try {
      await this.#parley.rest.call("auth_logout", {}, { token });
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
    }
  }

  /** Applies a reply that changes the sign-in. `usedToken` is the bearer that the request carried. */
  follow(id, reply, usedToken) {
    if (id === "auth_logout" && usedToken === this.token) this.end("signed_out");
    if (SIGNS_IN.has(id)) this.#signsIn(reply);
    else if (id.startsWith("auth_") && id !== "auth_refresh" && reply?.token) this.#renewed(usedToken, reply.token);
    else if (id === "auth_me") this.#learn(usedToken, reply.user);
    else if (id === "profile_get" || id === "profile_update") this.#learn(usedToken, reply.profile);
    else if (id.startsWith("profile_avatar_")) this.#learn(usedToken, { avatar_url: reply.avatar_url });
  }

  /** A request with the session's token was refused: whether to try again with a newer one. */
  async refused(error, usedToken) {
    if (!ENDS.has(error.code)) return false;
    const { sid } = claimsOf(usedToken);
    return (await this.endUnlessRenewed(error.code, usedToken)) === "renewed" && sid === this.#sid;
  }

  /**
   * The server has ended `usedToken`: "renewed" when there is another by now, otherwise the session is over.
   * A change of password ends the old token a moment before its reply brings the new one, maybe to another tab.
   */
  async endUnlessRenewed(reason, usedToken) {
    if (usedToken === this.token) await this.exclusively(() => this.#tabs.waitForStorage());
    if (usedToken === this.token) this.end(reason);
    return this.token ? "renewed" : "ended";
  }

  /** Runs work that replaces the token, in one tab at a time. */
  exclusively(work) {
    return this.#tabs.lock("refresh", work, this.#parley.timeout * LOCK_SHARE);
  }

  twoStepRefused(error) {
    if (ENDS.has(error.code)) this.cancelTwoStep();
  }

  end(reason) {
    const record = this.#record;
    if (!record) return;
    const { sid } = claimsOf(record.token);
    // The reason is stored first, because other tabs read it when they see that the token is gone.
    this.#storage.setItem(this.#keys.ended, JSON.stringify({ sid, reason }));
    this.#storage.removeItem(this.#keys.record);
    this.cancelTwoStep();
    this.#tabs.post({ type: "session.ended", sid });
    this.#notifyChanges();
  }

  /** Renews the token; only one of all tabs asks. Also done automatically before expiry. */
  refresh() {
    this.#renewal ??= this.#renew(this.token).finally(() => {
      this.#renewal = null;
      this.#schedule();
    });
    return this.#renewal;
  }

  renewWhenDue() {
    if (this.#parley.clock.now() >= this.#due) this.refresh().catch(() => {});
  }

  close() {
    clearTimeout(this.#timer);
  }

  get #record() {
    const text = this.#storage.getItem(this.#keys.record);
    if (text !== this.#parsed.text) this.#parsed = { text, record: parse(text) };
    return this.#parsed.record?.token ? this.#parsed.record : null;
  }

  get #sid() {
    return this.token ? claimsOf(this.token).sid : null;
  }

  /** When the token should be renewed, by the server's clock. */
  get #due() {
    const { iat, exp } = claimsOf(this.token ?? "");
    return exp ? (iat + (exp - iat) * RENEW_AFTER) * 1000 : Infinity;
  }

  #read(key) {
    return parse(this.#storage.getItem(key));
  }

  #write(record) {
    this.#storage.setItem(this.#keys.record, JSON.stringify(record));
    this.#tabs.post({ type: "session.changed" });
    this.#notifyChanges();
  }

  #signsIn(reply) {
    if (reply.two_step_required) {
      const pending = { token: reply.two_step_token, hint: reply.hint };
      this.#storage.setItem(this.#keys.twoStep, JSON.stringify(pending));
    }
    if (reply.device_token) this.#storage.setItem(this.#keys.device, JSON.stringify(reply.device_token));
    if (!reply.token) return;
    this.cancelTwoStep();
    this.#write({ token: reply.token, user: reply.user });
  }

  /** An earlier sign-out, or another sign-in, wins over the reply of a renewal. */
  #renewed(usedToken, token) {
    const record = this.#record;
    if (record?.token === usedToken) this.#write({ ...record, token });
  }

  #learn(usedToken, user) {
    const record = this.#record;
    if (record?.token !== usedToken || !user) return;
    this.#storage.setItem(this.#keys.record, JSON.stringify({ ...record, user: { ...record.user, ...user } }));
    this.#known = this.#record;
  }

  async #renew(seen) {
    if (!seen) return;
    await this.exclusively(async () => {
      const { token } = this;
      // Another tab renewed or signed out meanwhile.
      if (token !== seen) return;
      try {
        const reply = await this.#parley.rest.call("auth_refresh", {}, { token });
        this.#renewed(token, reply.token);
      } catch (error) {
        if (ENDS.has(error.code) && this.token === token) this.end(error.code);
        throw error;
      }
    });
  }

  #schedule() {
    clearTimeout(this.#timer);
    if (!this.token) return;
    const wait = this.#due - this.#parley.clock.now();
    const next = wait > 0 ? Math.min(wait, LONGEST_TIMER_MS) : RETRY_MS;
    this.#timer = setTimeout(() => {
      this.renewWhenDue();
      this.#schedule();
    }, next);
    this.#timer.unref?.();
  }

  #onTabMessage({ type, sid }) {
    // A renewal may have written its token just after the sign-out, which wins.
    if (type === "session.ended" && this.#sid === sid) this.#storage.removeItem(this.#keys.record);
    if (["session.ended", "session.changed", "storage"].includes(type)) this.#notifyChanges();
  }

  /** Notifies the handlers of changes since the last notification. */
  #notifyChanges() {
    const before = this.#known;
    const now = this.#record;
    this.#known = now;
    this.#schedule();
    if (before?.token === now?.token) return;
    const { sid } = claimsOf(before?.token ?? "");
    const isSame = before && now && sid === claimsOf(now.token).sid;
    if (isSame) {
      this.#parley.emit("session.renewed", { token: now.token });
      return;
    }
    if (before) {
      const ended = this.#read(this.#keys.ended);
      const reason = ended?.sid === sid ? ended.reason : "signed_out";
      this.#parley.emit("signedout", { reason, forget: FORGETS.has(reason) });
    }
    if (now) this.#parley.emit("signedin", { user: now.user });
  }
}

/** The claims of a token, without verification. */
function claimsOf(token) {
  try {
    const text = atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"));
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function parse(text) {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
