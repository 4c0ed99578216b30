// A reply on the socket has no status. These codes have one that matters to callers.
const STATUS_OF = {
  rate_limited: 429,
  account_locked: 429,
  server_error: 500,
  service_unavailable: 503,
  call_conflict: 409,
};

/** An error of the API, the socket or the network. Branch on `code`, never on the text. */
export class ParleyError extends Error {
  /**
   * @param {string} code
   * @param {{ message?: string, status?: number, fields?: Record<string, string[]> | null, retryAfter?: number | null,
   *   requestId?: string | null, cause?: unknown }} [answer]
   */
  constructor(code, { message = code, status = 0, fields = null, retryAfter = null, requestId = null, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ParleyError";
    this.code = code;
    this.status = status;
    this.fields = fields;
    /** Seconds, with 429 and 503. */
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  /** Whether the same request may succeed later without a change. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  static fromBody(body, status = 0, headers = null) {
    const retryAfter = body?.retry_after ?? (Number(headers?.get("Retry-After")) || null);
    return new ParleyError(body?.error ?? (status >= 500 ? "server_error" : "bad_response"), {
      message: body?.message,
      status,
      fields: body?.fields ?? null,
      retryAfter,
      requestId: body?.request_id ?? headers?.get("X-Request-Id") ?? null,
    });
  }

  /** Converts an error reply on the socket. */
  static fromFrame(body) {
    return ParleyError.fromBody(body, STATUS_OF[body.error] ?? 400);
  }
}
