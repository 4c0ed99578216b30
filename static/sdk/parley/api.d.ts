// Written by `manage.py write_sdk` from docs/openapi.json and the AsyncAPI document.
import type { AbortSignal, Blob } from "./platform.js";

// Compared with a text it is an error, so a misspelt value of an open list is one, too.
declare enum Newer {
  value = "a value that a newer server has added",
}

/**
 * What a newer server may send in place of the values that this version of the SDK knows: in `default` of a `switch` a
 * value has this type. It is a string at run time.
 */
export type NewerValue = Newer;

/** The values of an open list that this version knows, without `NewerValue`. */
export type Known<List> = Exclude<List, NewerValue>;

export type Account = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The unique name. */
    username: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /** @description Whether the address is confirmed. */
    is_verified: boolean;
};
export type AccountDeletionResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description A sentence for the user. */
    message: string;
    /**
     * Format: date-time
     * @description The account is erased at this time unless its user signs in before.
     */
    erase_after: string;
};
export type AckRequest = {
    /**
     * Format: int64
     * @description A number of the user's log.
     */
    seq: number;
};
export type ActionResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description For the header `X-Action-Token` of one request. */
    action_token: string;
    /** @description Seconds. */
    expires_in: number;
};
export type ActionVerifyRequest = {
    /** @description Names the challenge; goes back with its code. */
    challenge_token: string;
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
};
export type AllReadData = {
    /** @description Unread notifications. */
    unread_count: number;
};
export type AuthRequest = {
    /** @description The bearer token of the session. */
    token: string;
    /** @description The position to go on from; null starts at the end of the log. */
    resume?: PositionRequest | null;
};
export type AvatarResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The picture of the profile, as a signed path; null without one. */
    avatar_url: string | null;
};
export type BadgeData = {
    /** @description Unread notifications. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
};
export type Block = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
    /** @description The user. */
    user: Person;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
};
export type BlockData = {
    /** @description The user. */
    user_id: number;
    /** @description Whether the user is blocked now. */
    blocked: boolean;
};
export type BlockResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The block that is in force now. */
    block: Block;
};
export type BlockUserRequest = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
};
export type BlocksResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description `cursor` of the next page; null on the last one. */
    next_cursor: string | null;
    /** @description The users whom the caller has blocked, the newest first. */
    blocks: Block[];
};
export type Call = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * Format: int64
     * @description The user who calls.
     */
    caller_id: number;
    /** @description Whether the call has a picture: `audio` or `video`. */
    media: CallMedia;
    /** @description Where the call stands. */
    state: CallState;
    /** @description How the call ended; null as long as it lasts. */
    outcome: CallOutcome | null;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
    /**
     * Format: date-time
     * @description When it ends.
     */
    expires_at: string | null;
    /**
     * Format: date-time
     * @description When the callee answered.
     */
    answered_at: string | null;
    /**
     * Format: date-time
     * @description When the call ended.
     */
    ended_at: string | null;
    /** @description Seconds from the answer to the end; 0 for a call without an answer, null until the call has ended. */
    duration_s: number | null;
    /** @description Whether this device holds the call. */
    bound_to_you: boolean;
};
/** @enum {string} */
export type CallDeclineReason = "declined" | "busy";
export type CallDeclineRequest = {
    /**
     * @description Why.
     * @default declined
     * @enum {string}
     */
    reason?: "declined" | "busy";
    /**
     * Format: int64
     * @description The call.
     */
    call_id: number;
};
/** @enum {string} */
export type CallMedia = "audio" | "video";
/**
 * @description More values may be added.
 *     - `"completed"`: The two have talked.
 *     - `"missed"`: The callee has not answered in time.
 *     - `"canceled"`: The caller has ended it before an answer.
 *     - `"declined"`: The callee has declined it.
 *     - `"busy"`: The callee was in another call.
 *     - `"failed"`: No connection came about.
 *     - `"lost"`: Both devices have lost the connection.
 */
export type CallOutcome = "completed" | "missed" | "canceled" | "declined" | "busy" | "failed" | "lost" | NewerValue;
export type CallReplyData = {
    /** @description The call. */
    call: Call;
};
export type CallRequest = {
    /**
     * Format: int64
     * @description The call.
     */
    call_id: number;
};
export type CallResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The call. */
    call: Call;
};
export type CallRingingData = {
    /** @description The call. */
    call_id: number;
};
export type CallRouteReplyData = {
    /** @description The call. */
    call: Call;
    /** @description STUN and TURN servers for the media. */
    ice_servers: IceServer[];
    /**
     * @description `relay`: use the TURN servers only.
     * @enum {string}
     */
    ice_transport_policy: "all" | "relay";
};
export type CallSignalData = {
    /** @description The call. */
    call_id: number;
    /** @description What the payload is. */
    kind: CallSignalKind;
    /** @description What the other device reads; the server passes it on unread. */
    payload: {
        [key: string]: unknown;
    };
};
/**
 * @description More values may be added.
 *     - `"offer"`: A description of the session (SDP) that the other device answers.
 *     - `"answer"`: The description that answers an offer.
 *     - `"ice"`: A candidate for the connection.
 *     - `"restart"`: The other device is asked for a new offer.
 *     - `"media"`: Which media the other device sends, and which are muted.
 */
export type CallSignalKind = "offer" | "answer" | "ice" | "restart" | "media" | NewerValue;
/** @enum {string} */
export type CallState = "ringing" | "connecting" | "active" | "ended";
export type CallSummary = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description Whether the call has a picture: `audio` or `video`. */
    media: CallMedia;
    /** @description How the call ended; null as long as it lasts. */
    outcome: CallOutcome;
    /** @description Seconds from the answer to the end; 0 for a call without an answer, null until the call has ended. */
    duration_s: number | null;
};
export type CallUpdatedData = {
    /** @description null when one of the two has left for good. */
    call: Call | null;
};
export type CallsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Calls, the newest first. */
    calls: Call[];
    /** @description Whether there is another page. */
    has_more: boolean;
};
export type ChallengeRequest = {
    /**
     * @description One of `change_password`, `change_email`, `two_step_enable`, `two_step_change`, `two_step_disable`, `recovery_codes`, `export_data`, `delete_account`. Dashes, capitals and the other order of words are accepted.
     * @enum {string}
     */
    action: "change_password" | "change_email" | "two_step_enable" | "two_step_change" | "two_step_disable" | "recovery_codes" | "export_data" | "delete_account";
    /**
     * Format: password
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    current_password?: string;
    /**
     * Format: password
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    password?: string;
    /**
     * Format: password
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    new_password?: string;
    /** @description Of the action, which needs it again: what is wrong with it is told before a code is mailed. */
    hint?: string | null;
    /**
     * Format: email
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    email?: string;
};
export type ChallengeResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Names the challenge; goes back with its code. */
    challenge_token: string;
    /** @description Seconds. */
    expires_in: number;
};
export type ChangeEmailRequest = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
};
export type ChangeEmailResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description A sentence for the user. */
    message: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
};
export type ChangeEmailVerifyRequest = {
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
};
export type ChangePasswordRequest = {
    /**
     * Format: password
     * @description The password until now.
     */
    current_password: string;
    /**
     * Format: password
     * @description The password from now on: at least 8 characters, not a common one.
     */
    new_password: string;
};
export type ChangePreferencesRequest = {
    /** @description Whether it is switched on. */
    enabled?: boolean;
    /** @description Notifications arrive without a sound. */
    quiet_mode?: boolean;
    /** @description Notifications about likes. */
    likes?: boolean;
    /** @description Notifications about comments and replies. */
    comments?: boolean;
    /** @description Notifications about follows and requests to follow. */
    follows?: boolean;
    /** @description Notifications about messages. */
    messages?: boolean;
};
export type ChangesResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Names the log: another epoch is another log, as after a restored backup. */
    epoch: string;
    /** @description The events, in their order. */
    events: LoggedEvent[];
    /** @description A number of the user's log. */
    seq: number;
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description Whether the position is not in the log: load the state again. */
    reset: boolean;
};
export type ClearedData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description Messages up to this one are gone for the user. */
    cleared_up_to_id: number;
};
/**
 * @description More values may be added.
 *     - `"bad_frame"`: A frame was not a JSON object, or larger than 64 KiB.
 *     - `"token_revoked"`: The token is missing, expired or revoked.
 *     - `"forbidden"`: The origin of the page is not allowed.
 *     - `"slow"`: No sign-in within 5 seconds, or the client reads too slowly.
 *     - `"too_many_sockets"`: The user has more than 10 sockets; the oldest one was closed.
 *     - `"flooding"`: The client sent commands faster than they could be processed.
 *     - `"restart"`: The server restarts.
 */
export type CloseReason = "bad_frame" | "token_revoked" | "forbidden" | "slow" | "too_many_sockets" | "flooding" | "restart" | NewerValue;
export type Conversation = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The other participant. */
    other_user: Person;
    /** @description The newest message; null in an empty conversation. */
    last_message: LastMessage | null;
    /** @description Unread messages in this conversation. */
    unread_count: number;
    /**
     * Format: int64
     * @description 0: nothing yet.
     */
    last_read_id: number;
    /** @description null when either participant hides receipts. A block keeps it as it was. */
    other_last_read_id: number | null;
    /** @description Messages up to this one have arrived at the other user; null if unknown. */
    other_delivered_id: number | null;
    /** @description One of the two has blocked the other. */
    is_blocked: boolean;
};
export type ConversationClearedResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /**
     * Format: int64
     * @description Messages up to this one are gone for the user.
     */
    cleared_up_to_id: number;
};
export type ConversationData = {
    /** @description null when it has gone meanwhile. */
    conversation: Conversation | null;
};
export type ConversationReadData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description Who has read. */
    user_id: number;
    /** @description The user has read messages up to this one. */
    last_read_id: number;
    /** @description Of the reader of this event. */
    unread_count: number;
};
export type ConversationReadResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /**
     * Format: int64
     * @description The user has read messages up to this one.
     */
    last_read_id: number;
    /** @description Unread messages in this conversation. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
};
export type ConversationResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The conversation. */
    conversation: Conversation;
};
export type ConversationsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description `cursor` of the next page; null on the last one. */
    next_cursor: string | null;
    /** @description Conversations, the one with the newest message first. */
    conversations: Conversation[];
};
export type DeclineRequest = {
    /**
     * @description Why.
     * @default declined
     */
    reason?: CallDeclineReason;
};
export type DeleteRequest = {
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
};
export type DeletedReplyData = {
    /** @description The message. */
    message_id: number;
};
export type DeliveredData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description The user. */
    user_id: number;
    /** @description Messages up to this one have arrived on a device of the other user. */
    delivered_id: number;
};
export type EditMessageRequest = {
    /** @description null or empty only for the text of an image. */
    body?: string | null;
};
export type EditRequest = {
    /** @description null or empty only for the text of an image. */
    body: string | null;
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
};
export type EmailRequest = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
};
export type EmailUndoRequest = {
    /** @description The token in the mailed link. */
    token: string;
};
/** @description Every error has this shape. Branch on `error`, never on `message`. */
export type Error = {
    /**
     * @description `false` in every error.
     * @constant
     */
    ok: false;
    /** @description The code of the error. Branch on it. */
    error: ErrorCode;
    /** @description One sentence in the language of the reader. */
    message: string;
    /** @description With `validation_error` only: the problems of each field. */
    fields?: {
        [key: string]: string[];
    };
    /** @description With `events_expired` only: the first event that is kept. */
    oldest_id?: number | null;
    /** @description With `scope_missing` only: what the server key lacks. */
    scope?: string;
    /** @description Seconds to wait, with 429 and 503. Also in the `Retry-After` header. */
    retry_after?: number;
    /** @description Also in the `X-Request-Id` header. */
    request_id: string;
};
/**
 * @description More values may be added.
 *     - `"account_blocked"`: Support staff has blocked the account.
 *     - `"account_locked"`: Too many wrong passwords in a row.
 *     - `"action_token_invalid"`: The action token is used, older than five minutes, or belongs to another action or session.
 *     - `"action_token_required"`: This action needs a confirmation: the `X-Action-Token` header is missing.
 *     - `"call_conflict"`: The current state of the call does not allow this.
 *     - `"conversation_not_found"`: The conversation does not exist, or the user is not part of it.
 *     - `"deletion_scheduled"`: The user has asked for the deletion of this account, and it would be cancelled by signing in.
 *     - `"email_not_verified"`: The address is not confirmed yet, and this request reaches other users or changes security settings.
 *     - `"email_taken"`: The address is already registered.
 *     - `"events_expired"`: Some of the events after `after` are older than 14 days and no longer kept.
 *     - `"external_id_taken"`: Another account has this external id.
 *     - `"file_too_large"`: The file is larger than 5 MB, or the body larger than 512 KB.
 *     - `"idempotency_conflict"`: This `client_id` was already used for different content.
 *     - `"invalid_credentials"`: The e-mail address or the password is wrong.
 *     - `"invalid_image"`: The image is broken, or has too many pixels or frames.
 *     - `"invalid_otp"`: The mailed code or the challenge is wrong, used, or older than 10 minutes.
 *     - `"invalid_two_step"`: The second password or the recovery code is wrong.
 *     - `"message_not_found"`: The message does not exist, was deleted or cleared, or belongs to another conversation.
 *     - `"message_permission_denied"`: The privacy settings of the other user do not allow it.
 *     - `"method_not_allowed"`: The path exists, but not with this method.
 *     - `"not_acceptable"`: The response is JSON, and the `Accept` header excludes it.
 *     - `"not_found"`: The path or the resource does not exist, or the user may not see it.
 *     - `"not_message_owner"`: Only the author may edit or delete a message.
 *     - `"parse_error"`: The body is not a JSON object in UTF-8, or is nested too deeply.
 *     - `"rate_limited"`: Too many requests of this kind.
 *     - `"scope_missing"`: The server key lacks the scope that `scope` names.
 *     - `"server_error"`: The server failed to process the request.
 *     - `"server_key_in_browser"`: A request with a server key has an `Origin` header, so it comes from a browser.
 *     - `"server_key_invalid"`: The server key is missing, unknown or revoked, or the request comes from a network outside of the key's.
 *     - `"service_unavailable"`: The service is too busy, or its database is not available.
 *     - `"storage_full"`: The user stores as many bytes as is allowed in all (5 GB by default).
 *     - `"storage_quota_exceeded"`: The user has stored as many bytes as one day allows (500 MB by default, days in UTC).
 *     - `"token_expired"`: The token is older than seven days.
 *     - `"token_invalid"`: The token is missing, malformed, or of another kind.
 *     - `"token_revoked"`: The session has ended: sign-out, removal, a new password, or the token was already used up.
 *     - `"unsupported_media_type"`: The type of the body or of the image is not accepted here.
 *     - `"user_blocked"`: One of the two users has blocked the other.
 *     - `"user_not_found"`: The user does not exist or cannot be contacted.
 *     - `"username_taken"`: The username is taken.
 *     - `"validation_error"`: Some fields are missing, of the wrong type or out of range.
 */
export type ErrorCode = "account_blocked" | "account_locked" | "action_token_invalid" | "action_token_required" | "call_conflict" | "conversation_not_found" | "deletion_scheduled" | "email_not_verified" | "email_taken" | "events_expired" | "external_id_taken" | "file_too_large" | "idempotency_conflict" | "invalid_credentials" | "invalid_image" | "invalid_otp" | "invalid_two_step" | "message_not_found" | "message_permission_denied" | "method_not_allowed" | "not_acceptable" | "not_found" | "not_message_owner" | "parse_error" | "rate_limited" | "scope_missing" | "server_error" | "server_key_in_browser" | "server_key_invalid" | "service_unavailable" | "storage_full" | "storage_quota_exceeded" | "token_expired" | "token_invalid" | "token_revoked" | "unsupported_media_type" | "user_blocked" | "user_not_found" | "username_taken" | "validation_error" | NewerValue;
/** @enum {string} */
export type EventAction = "create" | "retract";
export type EventBatchRequest = {
    /** @description The events that are reported. */
    events: EventRequest[];
};
export type EventRequest = {
    /** @description The reporter's own id of the event; makes a report safe to repeat. */
    event_id: string;
    /** @description What it is about. */
    type: EventType;
    /**
     * @description What happened: `create`, or `retract` when it was taken back.
     * @default create
     */
    action?: EventAction;
    /**
     * Format: int64
     * @description The user who gets it.
     */
    recipient_id: number;
    /**
     * Format: int64
     * @description The user who caused it.
     */
    actor_id: number;
    /** @description What a tap opens. */
    target?: EventTargetRequest;
    /** @description The comment, of which a reply has its own row in the feed. */
    comment_id?: number | null;
    /**
     * Format: date-time
     * @description When it happened; by default now.
     */
    occurred_at?: string | null;
};
export type EventResult = {
    /** @description The reporter's own id of the event; makes a report safe to repeat. */
    event_id: string | null;
    /** @description What became of the event. */
    result: string;
};
export type EventTargetRequest = {
    /**
     * Format: int64
     * @description The id of the post in the app that reports the event.
     */
    id: number;
    /** @description What the target is called. */
    title?: string;
};
/** @enum {string} */
export type EventType = "comment" | "follow" | "follow_approved" | "follow_request" | "post_like" | "reply";
export type EventsRequest = EventRequest | EventBatchRequest;
export type EventsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description A result for each event, in their order. */
    results: EventResult[];
};
export type ExpiringData = {
    /**
     * Format: date-time
     * @description When it ends.
     */
    expires_at: string;
};
export type GoAwayData = {
    /** @description Connect again after so many milliseconds. */
    retry_ms: number;
};
export type IceServer = {
    /** @description The addresses of the server. */
    urls: string[];
    /** @description The name for this server. */
    username?: string;
    /** @description The password for this server. */
    credential?: string;
};
export type IceServersResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description STUN and TURN servers for the media. */
    ice_servers: IceServer[];
    /** @description `relay`: use the TURN servers only. */
    ice_transport_policy: IceTransportPolicy;
};
/** @enum {string} */
export type IceTransportPolicy = "all" | "relay";
export type IdentityTokenRequest = {
    /** @description The service that the token is for, as `IDENTITY_AUDIENCES` names it. */
    audience: string;
};
export type IdentityTokenResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description An ES256 JWT. */
    token: string;
    /** @description Seconds. */
    expires_in: number;
    /**
     * Format: date-time
     * @description The token expires then.
     */
    expires_at: string;
};
export type IntrospectRequest = {
    /** @description A session token that a user has sent to the team's own server. */
    token: string;
};
export type IntrospectResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether the token is accepted at this moment. */
    active: boolean;
    /** @description Of an active token. */
    user?: ServerUser;
    /**
     * Format: int64
     * @description The id in the user's list of sessions.
     */
    session_id?: number;
    /**
     * Format: date-time
     * @description When it ends.
     */
    expires_at?: string;
};
export type InviteRequest = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * @description Whether the call has a picture: `audio` or `video`.
     * @enum {string}
     */
    media: "audio" | "video";
    /** @description [A-Za-z0-9_-]{1,64}; the same one finds the same call again. */
    client_id?: string | null;
};
export type LastMessage = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description What it holds. */
    kind: MessageKind;
    /** @description The text; null if there is none. */
    body: string;
    /**
     * Format: int64
     * @description The user who sent it.
     */
    sender_id: number;
    /** @description The call that has ended, of the kind `call`; otherwise null. */
    call: CallSummary | null;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
};
export type LoggedEvent = {
    /** @description What it is about. */
    type: LoggedEventType;
    /** @description A number of the user's log. */
    seq: number;
    /**
     * Format: date-time
     * @description When it happened.
     */
    at: string;
    /** @description What the event says; its keys depend on the type. */
    data: {
        [key: string]: unknown;
    };
};
/**
 * @description More values may be added.
 *     - `"message.new"`: There is a new message in a conversation.
 *     - `"message.edited"`: The text of a message was changed.
 *     - `"message.deleted"`: A message was deleted for both users.
 *     - `"message.reactions"`: The reactions to a message have changed. Contains all of them.
 *     - `"conversation.created"`: There is a new conversation.
 *     - `"conversation.read"`: One of the two users has read a conversation.
 *     - `"conversation.cleared"`: The user has cleared a conversation, here or on another device.
 *     - `"block.changed"`: The user has blocked or unblocked another user.
 *     - `"profile.updated"`: The profile of a user has changed.
 *     - `"notification.new"`: There is a new notification, or an existing one has changed.
 *     - `"notification.read_all"`: All notifications were marked read.
 *     - `"call.updated"`: The state of a call has changed.
 */
export type LoggedEventType = "message.new" | "message.edited" | "message.deleted" | "message.reactions" | "conversation.created" | "conversation.read" | "conversation.cleared" | "block.changed" | "profile.updated" | "notification.new" | "notification.read_all" | "call.updated" | NewerValue;
export type LoginRequest = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /**
     * Format: password
     * @description The password.
     */
    password: string;
};
export type LoginResponse = SignInResponse | TwoStepRequiredResponse;
export type MeResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The user. */
    user: OwnAccount;
};
export type Media = {
    /** @description Pixels. */
    width: number;
    /** @description Pixels. */
    height: number;
    /** @description The type of the image, such as `image/jpeg`. */
    mime: string;
    /** @description Bytes. */
    size: number;
    /** @description A small version of the image, as a signed path. */
    thumb_url: string;
    /** @description A blurred preview of the image (BlurHash). */
    blurhash: string;
};
export type Message = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * Format: int64
     * @description The user who sent it.
     */
    sender_id: number;
    /** @description What it holds. */
    kind: MessageKind;
    /** @description The text; null if there is none. */
    body: string | null;
    /** @description The image, as a signed path; null without one. */
    media_url: string | null;
    /** @description Size and preview of the image; null without one. */
    media: Media | null;
    /** @description The message that this one answers. */
    reply_to_id: number | null;
    /** @description The message that this one answers; null if there is none, or it was deleted. */
    reply_to: ReplyPreview | null;
    /** @description Whether the text was changed. */
    is_edited: boolean;
    /**
     * Format: date-time
     * @description When the text was changed last; null if it never was.
     */
    edited_at: string | null;
    /** @description The reactions by emoji, in the order of first use. */
    reactions: Reaction[];
    /** @description The call that has ended, of the kind `call`; otherwise null. */
    call: CallSummary | null;
    /** @description Only its sender sees it. */
    client_id: string | null;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
};
export type MessageData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description The message. */
    message: Message;
    /** @description What the reader of this event has left unread here. */
    unread_count: number;
};
export type MessageDeletedData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description The message. */
    message_id: number;
    /** @description Unread notifications. */
    unread_count: number;
    /** @description The newest message; null in an empty conversation. */
    last_message: LastMessage | null;
};
export type MessageDeletedResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
};
/**
 * @description More values may be added.
 *     - `"text"`: A text, in `body`.
 *     - `"image"`: A picture, in `media_url` and `media`. `body` is its text, or null.
 *     - `"call"`: A call that has ended, in `call`. `body` names it in English.
 */
export type MessageKind = "text" | "image" | "call" | NewerValue;
export type MessageReplyData = {
    /** @description The message. */
    message: Message;
};
export type MessageResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The message. */
    message: Message;
};
export type MessagesResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Messages, the newest first. */
    messages: Message[];
    /** @description Whether there is another page. */
    has_more: boolean;
};
export type NoticeResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description A sentence for the user. */
    message: string;
};
export type Notification = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description What it is about. */
    type: NotificationType;
    /** @description Whether the user has read it. */
    is_read: boolean;
    /** @description The latest person who caused it. */
    actor: Person;
    /** @description What a tap opens. */
    target: NotificationTarget;
    /** @description How many events this stands for. */
    count: number;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
};
export type NotificationData = {
    /** @description The notification. */
    notification_id: number;
    /** @description null when it has gone meanwhile. */
    notification: Notification | null;
    /** @description Unread notifications. */
    unread_count: number;
    /** @description Quiet mode: show, but make no sound. */
    silent?: boolean;
};
export type NotificationDeletedResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Unread notifications. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
    /**
     * Format: int64
     * @description The notification.
     */
    notification_id: number;
};
export type NotificationReadResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Unread notifications. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
    /** @description The notification. */
    notification: Notification;
};
export type NotificationTarget = {
    /** @description What it is about. */
    type: NotificationTargetType;
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description What the target is called. */
    title: string;
};
/**
 * @description More values may be added.
 *     - `"post"`: A post of the app that reports the event.
 *     - `"user"`: The profile of the actor.
 *     - `"conversation"`: The conversation with the actor.
 */
export type NotificationTargetType = "post" | "user" | "conversation" | NewerValue;
/**
 * @description More values may be added.
 *     - `"post_like"`: The actors like a post.
 *     - `"comment"`: The actors have commented on a post.
 *     - `"reply"`: The actors have replied to a comment.
 *     - `"follow"`: The actors follow the user.
 *     - `"follow_request"`: The actor asks to follow the user.
 *     - `"follow_approved"`: The actor has accepted a request to follow.
 *     - `"message"`: There are unread messages in a conversation.
 */
export type NotificationType = "post_like" | "comment" | "reply" | "follow" | "follow_request" | "follow_approved" | "message" | NewerValue;
export type NotificationsReadResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Unread notifications. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
    /** @description How many rows have changed. */
    updated: number;
};
export type NotificationsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description `cursor` of the next page; null on the last one. */
    next_cursor: string | null;
    /** @description Notifications, the newest first. */
    notifications: Notification[];
    /** @description Unread notifications. */
    unread_count: number;
};
export type OkResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
};
export type OwnAccount = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The unique name. */
    username: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /** @description Whether the address is confirmed. */
    is_verified: boolean;
    /** @description A text about the user, at most 500 characters. */
    bio: string | null;
    /** @description The picture of the profile, as a signed path; null without one. */
    avatar_url: string | null;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
    /** @description Whether the user belongs to the staff. */
    is_admin: boolean;
};
export type PasswordChangedResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The bearer token of the session. */
    token: string;
    /**
     * Format: date-time
     * @description The token expires then. Refresh it before.
     */
    expires_at: string;
    /** @description A sentence for the user. */
    message: string;
};
export type Person = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The unique name. */
    username: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /** @description The picture of the profile, as a signed path; null without one. */
    avatar_url: string | null;
};
export type PersonProfile = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The unique name. */
    username: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /** @description The picture of the profile, as a signed path; null without one. */
    avatar_url: string | null;
    /** @description A text about the user, at most 500 characters. */
    bio: string | null;
};
export type PositionData = {
    /** @description A number of the user's log. */
    seq: number;
};
export type PositionRequest = {
    /** @description Names the log: another epoch is another log, as after a restored backup. */
    epoch: string;
    /** @description A number of the user's log. */
    seq: number;
};
export type Preferences = {
    /** @description Whether it is switched on. */
    enabled: boolean;
    /** @description Notifications arrive without a sound. */
    quiet_mode: boolean;
    /** @description Notifications about likes. */
    likes: boolean;
    /** @description Notifications about comments and replies. */
    comments: boolean;
    /** @description Notifications about follows and requests to follow. */
    follows: boolean;
    /** @description Notifications about messages. */
    messages: boolean;
};
export type PreferencesResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The preferences for notifications. */
    preferences: Preferences;
};
export type PresenceData = {
    /** @description The user. */
    user_id: number;
    /** @description Whether the user is on line. */
    online: boolean;
    /**
     * Format: date-time
     * @description When the user was last on line; null if unknown or hidden.
     */
    last_seen_at: string | null;
};
export type PresenceReplyData = {
    /** @description What is known of each user. */
    presence: PresenceData[];
};
export type Privacy = {
    /** @description Who may start a conversation with the user. */
    who_can_message: WhoCanMessage;
    /** @description Whether others see what the user has read, and the user what they have. */
    read_receipts: boolean;
    /** @description Whether others see when the user is on line. */
    show_last_seen: boolean;
    /** @description Calls use TURN servers only, which hides the user's network address. */
    relay_calls: boolean;
};
export type PrivacyResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The privacy settings. */
    privacy: Privacy;
};
export type Profile = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The unique name. */
    username: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /** @description Whether the address is confirmed. */
    is_verified: boolean;
    /** @description A text about the user, at most 500 characters. */
    bio: string | null;
    /** @description The picture of the profile, as a signed path; null without one. */
    avatar_url: string | null;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
    /** @description The language of mails and pushes, as a BCP 47 code. */
    language: string;
};
export type ProfileData = {
    /** @description The user. */
    user: Profile | null;
};
export type ProfileResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The profile. */
    profile: Profile;
};
export type PushTokenRequest = {
    /** @description The registration token of the push provider. */
    token: string;
    /**
     * @description What the device is.
     * @default android
     * @enum {string}
     */
    platform?: "android" | "ios" | "web";
    /** @description The app's own name of the device: a new token takes the place of its old one. */
    device_id?: string | null;
    /**
     * @description The language of the device, for the texts of pushes.
     * @default
     */
    locale?: string | null;
    /**
     * @description The version of the app, for the list of devices.
     * @default
     */
    app_version?: string | null;
};
export type ReactRequest = {
    /** @description Exactly one emoji. */
    emoji: string;
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
};
export type Reaction = {
    /** @description The emoji. */
    emoji: string;
    /** @description How many users react with it. */
    count: number;
    /** @description The users who react with it. */
    user_ids: number[];
};
export type ReactionRequest = {
    /** @description Exactly one emoji. */
    emoji: string;
};
export type ReactionsData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description The message. */
    message_id: number;
    /** @description The reactions by emoji, in the order of first use. */
    reactions: Reaction[];
    /** @description What the reader of this event has left unread here. */
    unread_count: number;
};
export type ReactionsReplyData = {
    /** @description The reactions by emoji, in the order of first use. */
    reactions: Reaction[];
};
export type ReactionsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The reactions by emoji, in the order of first use. */
    reactions: Reaction[];
};
export type ReadReplyData = {
    /** @description The user has read messages up to this one. */
    last_read_id: number;
    /** @description Unread messages in this conversation. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
};
export type ReadRequest = {
    /**
     * Format: int64
     * @description Default: the newest message.
     */
    message_id?: number | null;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
};
export type ReadyData = {
    /** @description The user. */
    user_id: number;
    /** @description Names the log: another epoch is another log, as after a restored backup. */
    epoch: string;
    /** @description A number of the user's log. */
    seq: number;
    /** @description The first event that the log still has. */
    min_seq: number;
    /** @description Send `ping` after so many seconds. */
    ping_s: number;
    /** @description The server pauses after so many events without an `ack`. */
    window: number;
    /** @description Calls, the newest first. */
    calls: Call[];
    /** @description The version of the server, for a client that may be older. */
    version: string;
};
export type RecoveryCodeRequest = {
    /** @description One of the recovery codes; it works once. */
    recovery_code: string;
};
export type RecoveryCodesResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Shown once. */
    recovery_codes: string[];
};
export type RecoverySignInResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The bearer token of the session. */
    token: string;
    /**
     * Format: date-time
     * @description The token expires then. Refresh it before.
     */
    expires_at: string;
    /** @description The user. */
    user: Account;
    /** @description How many recovery codes are unused. */
    recovery_codes_left: number;
};
export type RemovePushTokenRequest = {
    /** @description The registration token of the push provider. */
    token: string;
};
export type RenewedData = {
    /** @description The user. */
    user_id: number;
};
export type ReplyPreview = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /**
     * Format: int64
     * @description The user who sent it.
     */
    sender_id: number;
    /** @description What it holds. */
    kind: MessageKind;
    /** @description At most 200 characters. */
    body: string | null;
    /** @description The image, as a signed path; null without one. */
    media_url: string | null;
    /** @description A small version of the image, as a signed path. */
    thumb_url: string | null;
};
export type ReportRequest = {
    /** @description At most 100 characters. */
    reason: string;
    /** @description Free text for the staff, at most 2000 characters. */
    comment?: string | null;
};
export type ReportResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /**
     * Format: int64
     * @description The report.
     */
    report_id: number;
    /** @description That of the first report of this message by this user, which stays. */
    reason: string;
    /** @description The user has reported this message before. */
    is_repeated: boolean;
};
export type ResetPasswordRequest = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
    /**
     * Format: password
     * @description The password from now on: at least 8 characters, not a common one.
     */
    new_password: string;
};
export type ResyncData = {
    /** @description A number of the user's log. */
    seq: number;
    /** @description Why. */
    reason: ResyncReason;
};
/**
 * @description More values may be added.
 *     - `"epoch"`: The log is another one, as after a restored backup.
 *     - `"too_old"`: The events after the position are no longer kept.
 *     - `"ahead"`: The position is beyond the end of the log.
 */
export type ResyncReason = "epoch" | "too_old" | "ahead" | NewerValue;
export type SearchEverywhereResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description `cursor` of the next page; null on the last one. */
    next_cursor: string | null;
    /** @description Messages, the newest first. */
    messages: Message[];
};
export type SearchResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Messages, the newest first. */
    messages: Message[];
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description `before` of the next page; may lie below the last message found. */
    next_before: number | null;
};
export type SecurityChange = {
    /** @description `password_changed`, `email_changed`, `email_change_undone`, `two_step_set`, `two_step_disabled`, `recovery_codes_made`; ignore others. */
    type: string;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
};
export type SecurityChangesResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The changes, the newest first. */
    changes: SecurityChange[];
};
export type SendImageRequest = {
    /**
     * Format: binary
     * @description JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes).
     */
    file: Blob;
    /** @description The text; null if there is none. */
    body?: string;
    /**
     * Format: int64
     * @description The message that this one answers.
     */
    reply_to_id?: number;
    /** @description Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat. */
    client_id?: string;
};
export type SendMessageRequest = {
    /** @description 1 to 4096 characters after trimming. */
    body: string;
    /**
     * Format: int64
     * @description The message that this one answers.
     */
    reply_to_id?: number | null;
    /** @description Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat. */
    client_id?: string | null;
};
export type SendRequest = {
    /** @description 1 to 4096 characters after trimming. */
    body: string;
    /**
     * Format: int64
     * @description The message that this one answers.
     */
    reply_to_id?: number | null;
    /** @description Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat. */
    client_id?: string | null;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
};
export type ServerBlockRequest = {
    /** @description Why. */
    reason: string;
    /**
     * Format: date-time
     * @description When the block ends; null is without an end.
     */
    until?: string | null;
};
export type ServerChangeUserRequest = {
    /** @description The first name. */
    first_name?: string;
    /** @description The last name. */
    last_name?: string;
    /** @description A text about the user, at most 500 characters. */
    bio?: string | null;
    /** @description A BCP 47 language tag. Supported: `en`, `ru`, `es`, `de`, `fr`, `pt`, `tr`, `uk`, `ar`, `zh`. Other tags fall back to their base, then to `en`. */
    language?: string | null;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email?: string;
    /** @description The id of the user on the team's own server. */
    external_id?: string | null;
};
export type ServerCreateUserRequest = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name?: string;
    /** @description A BCP 47 language tag. Supported: `en`, `ru`, `es`, `de`, `fr`, `pt`, `tr`, `uk`, `ar`, `zh`. Other tags fall back to their base, then to `en`. */
    language?: string | null;
    /** @description The id of the user on the team's own server. */
    external_id?: string | null;
    /**
     * @description Whether the address is confirmed.
     * @default true
     */
    is_verified?: boolean;
    /**
     * Format: password
     * @description The password.
     */
    password?: string | null;
    /** @description In Django's format: `pbkdf2_sha256$…`, `argon2$…`, `bcrypt$$…`, `bcrypt_sha256$$…` or `scrypt$…`. */
    password_hash?: string | null;
};
export type ServerEraseUserRequest = {
    /** @description Why. */
    reason: string;
};
export type ServerEvent = {
    /**
     * Format: int64
     * @description Its place in the log, which is also `after` of the next page.
     */
    id: number;
    /** @description The `webhook-id` under which targets get the same event. */
    webhook_id: string;
    /** @description What it is about. */
    type: ServerEventType;
    /**
     * Format: date-time
     * @description When it happened.
     */
    timestamp: string;
    /** @description Ids and public fields; the guide names those of each type. */
    data: {
        /** @description More values may be added. */
        reason?: "logout" | "revoked" | "device_removed" | "password_changed" | "password_reset" | "email_change_undone" | "confirmed" | "contested" | "reuse" | "server_key_revoked" | "blocked" | "staff" | "account_deleted" | "account_erased" | NewerValue;
        /** @description More values may be added. */
        outcome?: "completed" | "missed" | "canceled" | "declined" | "busy" | "failed" | "lost" | NewerValue;
    } & {
        [key: string]: unknown;
    };
};
/**
 * @description More values may be added.
 *     - `"account.created"`: An account was created.
 *     - `"account.verified"`: The address of an account was confirmed.
 *     - `"account.updated"`: Name, username, picture, text, language or address of a user changed.
 *     - `"account.blocked"`: Staff or your server blocked an account.
 *     - `"account.unblocked"`: Staff or your server unblocked an account.
 *     - `"account.deletion_scheduled"`: A user has asked for the deletion of the account.
 *     - `"account.deletion_cancelled"`: The deletion was cancelled.
 *     - `"account.erased"`: An account was erased, with everything that it had written.
 *     - `"session.created"`: A user signed in, or your server opened a session.
 *     - `"session.ended"`: A session ended.
 *     - `"message.created"`: A message was sent.
 *     - `"message.updated"`: The text of a message changed.
 *     - `"message.deleted"`: A message was deleted for both participants.
 *     - `"report.created"`: A participant reported a message.
 *     - `"report.closed"`: Staff closed a report.
 *     - `"call.ended"`: A call ended, answered or not.
 *     - `"block.created"`: A user blocked another one.
 *     - `"block.removed"`: A user removed a block.
 */
export type ServerEventType = "account.created" | "account.verified" | "account.updated" | "account.blocked" | "account.unblocked" | "account.deletion_scheduled" | "account.deletion_cancelled" | "account.erased" | "session.created" | "session.ended" | "message.created" | "message.updated" | "message.deleted" | "report.created" | "report.closed" | "call.ended" | "block.created" | "block.removed" | NewerValue;
export type ServerEventsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The events, in their order. */
    events: ServerEvent[];
    /** @description Whether there is another page. */
    has_more: boolean;
};
export type ServerMessageRequest = {
    /**
     * Format: int64
     * @description The user who sent it.
     */
    sender_id: number;
    /**
     * Format: int64
     * @description The user who gets it.
     */
    recipient_id: number;
    /** @description 1 to 4096 characters after trimming. */
    body: string;
    /** @description Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat. */
    client_id?: string | null;
    /**
     * Format: int64
     * @description The message that this one answers.
     */
    reply_to_id?: number | null;
};
export type ServerMessageResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The message. */
    message: Message;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
};
export type ServerReasonRequest = {
    /**
     * @description Why.
     * @default
     */
    reason?: string;
};
export type ServerSessionRequest = {
    /** @description What the list of sessions calls the device. */
    device_name?: string;
};
export type ServerSessionResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The bearer token of the session. */
    token: string;
    /**
     * Format: date-time
     * @description The token expires then. Refresh it before.
     */
    expires_at: string;
    /** @description The user. */
    user: ServerUser;
};
export type ServerUser = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description The unique name. */
    username: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /** @description Whether the address is confirmed. */
    is_verified: boolean;
    /** @description A text about the user, at most 500 characters. */
    bio: string | null;
    /** @description The picture of the profile, as a signed path; null without one. */
    avatar_url: string | null;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
    /** @description The language of mails and pushes, as a BCP 47 code. */
    language: string;
    /** @description The id of the user on the team's own server. */
    external_id: string | null;
    /**
     * Format: date-time
     * @description When the user was last on line; null if unknown or hidden.
     */
    last_seen_at: string | null;
    /** @description Whether the account can be used. */
    status: ServerUserStatus;
    /**
     * Format: date-time
     * @description When the block by staff ends; null without an end or a block.
     */
    blocked_until: string | null;
};
export type ServerUserResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The user. */
    user: ServerUser;
};
/** @enum {string} */
export type ServerUserStatus = "active" | "unverified" | "blocked" | "deletion_scheduled";
export type ServerUsersResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether there is another page. */
    has_more: boolean;
    /** @description `cursor` of the next page; null on the last one. */
    next_cursor: string | null;
    /** @description The users. */
    users: ServerUser[];
};
export type Session = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description What the list of sessions calls the device. */
    device_name: string;
    /** @description The address that the session was used from last. */
    ip: string | null;
    /** @description The program, as it names itself. */
    user_agent: string;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
    /**
     * Format: date-time
     * @description When it was used last.
     */
    last_used_at: string;
    /** @description Whether it is the session of this request. */
    is_current: boolean;
    /** @description The name of the server key that opened it without a password. */
    opened_by: string | null;
};
export type SessionsEndedResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description How many sessions ended. */
    revoked: number;
};
export type SessionsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The sessions, the last used first. */
    sessions: Session[];
};
export type SetAvatarRequest = {
    /**
     * Format: binary
     * @description JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes).
     */
    file: Blob;
};
export type SetPreferencesRequest = {
    /** @description Whether it is switched on. */
    enabled: boolean;
    /** @description Notifications arrive without a sound. */
    quiet_mode: boolean;
    /** @description Notifications about likes. */
    likes: boolean;
    /** @description Notifications about comments and replies. */
    comments: boolean;
    /** @description Notifications about follows and requests to follow. */
    follows: boolean;
    /** @description Notifications about messages. */
    messages: boolean;
};
export type SignInResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The bearer token of the session. */
    token: string;
    /**
     * Format: date-time
     * @description The token expires then. Refresh it before.
     */
    expires_at: string;
    /** @description The user. */
    user: Account;
};
export type SignUpRequest = {
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /**
     * Format: password
     * @description The password.
     */
    password: string;
    /** @description A BCP 47 language tag. Supported: `en`, `ru`, `es`, `de`, `fr`, `pt`, `tr`, `uk`, `ar`, `zh`. Other tags fall back to their base, then to `en`. */
    language?: string | null;
};
export type SignalRequest = {
    /**
     * Format: int64
     * @description The call.
     */
    call_id: number;
    /**
     * @description What the payload is.
     * @enum {string}
     */
    kind: "offer" | "answer" | "ice" | "restart" | "media";
    /** @description Passed on unread; SDP up to 48 KiB, a candidate up to 2 KiB. */
    payload: {
        [key: string]: unknown;
    };
};
export type StartConversationRequest = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
};
export type TestPushResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description How many devices of the caller the push is on its way to. */
    devices: number;
};
export type TokenResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The bearer token of the session. */
    token: string;
    /**
     * Format: date-time
     * @description The token expires then. Refresh it before.
     */
    expires_at: string;
};
export type TrustedDevice = {
    /**
     * Format: int64
     * @description The id.
     */
    id: number;
    /** @description What the list of sessions calls the device. */
    device_name: string;
    /**
     * Format: date-time
     * @description When it was created.
     */
    created_at: string;
    /**
     * Format: date-time
     * @description When it was used last.
     */
    last_used_at: string;
    /**
     * Format: date-time
     * @description When it ends.
     */
    expires_at: string;
};
export type TrustedDevicesResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The trusted devices, the last used first. */
    devices: TrustedDevice[];
};
export type TwoStepChangeRequest = {
    /**
     * Format: password
     * @description Not needed for 15 minutes after a sign-in with a recovery code.
     */
    password?: string;
    /**
     * Format: password
     * @description The password from now on: at least 8 characters, not a common one.
     */
    new_password: string;
    /** @description Reminds the user of the second password. */
    hint?: string | null;
};
export type TwoStepDisableRequest = {
    /**
     * Format: password
     * @description The password.
     */
    password: string;
};
export type TwoStepEnableRequest = {
    /**
     * Format: password
     * @description The password.
     */
    password: string;
    /** @description Reminds the user of the second password. */
    hint?: string | null;
};
export type TwoStepRequest = {
    /**
     * Format: password
     * @description The second password, or the mailed 8-digit code.
     */
    password: string;
    /**
     * @description Whether this device is trusted from now on, and the second password no longer asked for.
     * @default false
     */
    remember?: boolean;
};
export type TwoStepRequiredResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /**
     * @description `true`: the second step is missing.
     * @constant
     */
    two_step_required: true;
    /** @description The bearer token of the second step. */
    two_step_token: string;
    /** @description Reminds the user of the second password. */
    hint: string;
};
export type TwoStepResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The bearer token of the session. */
    token: string;
    /**
     * Format: date-time
     * @description The token expires then. Refresh it before.
     */
    expires_at: string;
    /** @description The user. */
    user: Account;
    /** @description With remember, for callers that send no Origin; browsers get a cookie. */
    device_token?: string;
};
export type TwoStepStatusResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Whether it is switched on. */
    enabled: boolean;
    /** @description Reminds the user of the second password. */
    hint: string;
    /** @description How many recovery codes are unused. */
    recovery_codes_left: number;
    /**
     * Format: date-time
     * @description When it was changed last.
     */
    updated_at: string | null;
};
export type TypingData = {
    /** @description The conversation. */
    conversation_id: number;
    /** @description The user. */
    user_id: number;
    /** @description Expires after 6 s unless it is repeated. */
    is_typing: boolean;
};
export type TypingRequest = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /** @description Whether the user types now. */
    is_typing: boolean;
};
export type UnreadCountsResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description Unread notifications. */
    unread_count: number;
    /** @description Unread messages in all conversations. */
    message_unread_count: number;
};
export type UpToMessageRequest = {
    /**
     * Format: int64
     * @description Default: the newest message.
     */
    message_id?: number | null;
};
export type UpdatePrivacyRequest = {
    /** @description Who may start a conversation with the user. */
    who_can_message?: WhoCanMessage;
    /** @description Whether others see what the user has read, and the user what they have. */
    read_receipts?: boolean;
    /** @description Whether others see when the user is on line. */
    show_last_seen?: boolean;
    /** @description Calls use TURN servers only, which hides the user's network address. */
    relay_calls?: boolean;
};
export type UpdateProfileRequest = {
    /** @description The unique name. */
    username?: string;
    /** @description The first name. */
    first_name?: string;
    /** @description The last name. */
    last_name?: string;
    /** @description A text about the user, at most 500 characters. */
    bio?: string | null;
    /** @description A BCP 47 language tag. Supported: `en`, `ru`, `es`, `de`, `fr`, `pt`, `tr`, `uk`, `ar`, `zh`. Other tags fall back to their base, then to `en`. */
    language?: string | null;
};
export type UserResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The user. */
    user: PersonProfile;
};
export type UsersResponse = {
    /**
     * @description `true` in every response to a request that succeeded.
     * @constant
     */
    ok: true;
    /** @description The users. */
    users: Person[];
};
export type VerifyRequest = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
};
export type WatchRequest = {
    /** @description Replaces what this socket watched before. */
    user_ids: number[];
};
/** @enum {string} */
export type WhoCanMessage = "everyone" | "contacts" | "nobody";
export type AuthActionChallengeParams = {
    /**
     * @description One of `change_password`, `change_email`, `two_step_enable`, `two_step_change`, `two_step_disable`, `recovery_codes`, `export_data`, `delete_account`. Dashes, capitals and the other order of words are accepted.
     * @enum {string}
     */
    action: "change_password" | "change_email" | "two_step_enable" | "two_step_change" | "two_step_disable" | "recovery_codes" | "export_data" | "delete_account";
    /**
     * Format: password
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    current_password?: string;
    /**
     * Format: password
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    password?: string;
    /**
     * Format: password
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    new_password?: string;
    /** @description Of the action, which needs it again: what is wrong with it is told before a code is mailed. */
    hint?: string | null;
    /**
     * Format: email
     * @description Of the action, which needs it again: what is wrong with it is told before a code is mailed.
     */
    email?: string;
};
export type AuthActionVerifyParams = {
    /** @description Names the challenge; goes back with its code. */
    challenge_token: string;
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
};
export type AuthChangeEmailParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
};
export type AuthChangeEmailUndoParams = {
    /** @description The token in the mailed link. */
    token: string;
};
export type AuthChangeEmailVerifyParams = {
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
};
export type AuthChangePasswordParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
    /**
     * Format: password
     * @description The password until now.
     */
    current_password: string;
    /**
     * Format: password
     * @description The password from now on: at least 8 characters, not a common one.
     */
    new_password: string;
};
export type AuthDeleteAccountParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
};
export type AuthDevicesRemoveParams = {
    /**
     * Format: int64
     * @description The trusted device.
     */
    device_id: number;
};
export type AuthExportParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
};
export type AuthForgotPasswordParams = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
};
export type AuthIdentityTokenParams = {
    /** @description The service that the token is for, as `IDENTITY_AUDIENCES` names it. */
    audience: string;
};
export type AuthLoginParams = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /**
     * Format: password
     * @description The password.
     */
    password: string;
};
export type AuthResendOtpParams = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
};
export type AuthSessionsEndParams = {
    /**
     * Format: int64
     * @description The session.
     */
    session_id: number;
};
export type AuthSignupParams = {
    /** @description The first name. */
    first_name: string;
    /** @description The last name. */
    last_name: string;
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /**
     * Format: password
     * @description The password.
     */
    password: string;
    /** @description A BCP 47 language tag. Supported: `en`, `ru`, `es`, `de`, `fr`, `pt`, `tr`, `uk`, `ar`, `zh`. Other tags fall back to their base, then to `en`. */
    language?: string | null;
};
export type AuthTwoStepParams = {
    /**
     * Format: password
     * @description The second password, or the mailed 8-digit code.
     */
    password: string;
    /**
     * @description Whether this device is trusted from now on, and the second password no longer asked for.
     * @default false
     */
    remember?: boolean;
};
export type AuthTwoStepChangeParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
    /**
     * Format: password
     * @description Not needed for 15 minutes after a sign-in with a recovery code.
     */
    password?: string;
    /**
     * Format: password
     * @description The password from now on: at least 8 characters, not a common one.
     */
    new_password: string;
    /** @description Reminds the user of the second password. */
    hint?: string | null;
};
export type AuthTwoStepDisableParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
    /**
     * Format: password
     * @description The password.
     */
    password: string;
};
export type AuthTwoStepEnableParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
    /**
     * Format: password
     * @description The password.
     */
    password: string;
    /** @description Reminds the user of the second password. */
    hint?: string | null;
};
export type AuthTwoStepForgotParams = {
    /** @description One of the recovery codes; it works once. */
    recovery_code: string;
};
export type AuthTwoStepRecoveryCodesParams = {
    /** @description From action-verify; good for one use of one action by one session. */
    action_token: string;
};
export type AuthVerifyParams = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
};
export type AuthVerifyResetParams = {
    /**
     * Format: email
     * @description The e-mail address.
     */
    email: string;
    /** @description The mailed code: 6 digits of any script, or 8 or 10 after many failed attempts. White space, dashes, quotes and invisible characters are ignored. */
    code: string;
    /**
     * Format: password
     * @description The password from now on: at least 8 characters, not a common one.
     */
    new_password: string;
};
export type CallsListParams = {
    /** @description Only calls with a smaller id. */
    before?: number;
    /**
     * @description Number of rows, 30 by default. Values above 100 count as 100.
     * @default 30
     */
    limit?: number;
};
export type CallsGetParams = {
    /**
     * Format: int64
     * @description The call.
     */
    call_id: number;
};
export type CallsDeclineParams = {
    /**
     * Format: int64
     * @description The call.
     */
    call_id: number;
    /**
     * @description Why.
     * @default declined
     */
    reason?: CallDeclineReason;
};
export type CallsIceServersParams = {
    /**
     * Format: int64
     * @description The call.
     */
    call_id: number;
};
export type MessagesListConversationsParams = {
    /** @description `next_cursor` of the page before. */
    cursor?: string;
    /**
     * @description Number of rows, 30 by default. Values above 100 count as 100.
     * @default 30
     */
    limit?: number;
};
export type MessagesStartConversationParams = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
};
export type MessagesGetConversationParams = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
};
export type MessagesClearConversationParams = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * Format: int64
     * @description Default: the newest message.
     */
    message_id?: number | null;
};
export type MessagesSendImageParams = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * Format: binary
     * @description JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes).
     */
    file: Blob;
    /** @description The text; null if there is none. */
    body?: string;
    /**
     * Format: int64
     * @description The message that this one answers.
     */
    reply_to_id?: number;
    /** @description Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat. */
    client_id?: string;
};
export type MessagesListParams = {
    /** @description Only messages with higher ids, the lowest of them first picked. Not with `before`. */
    after?: number;
    /** @description Only messages with lower ids. */
    before?: number;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * @description Number of rows, 50 by default. Values above 100 count as 100.
     * @default 50
     */
    limit?: number;
};
export type MessagesSendParams = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /** @description 1 to 4096 characters after trimming. */
    body: string;
    /**
     * Format: int64
     * @description The message that this one answers.
     */
    reply_to_id?: number | null;
    /** @description Chosen by the client, 1 to 64 of `A-Z a-z 0-9 _ -`. Makes the request safe to repeat. */
    client_id?: string | null;
};
export type MessagesMarkReadParams = {
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * Format: int64
     * @description Default: the newest message.
     */
    message_id?: number | null;
};
export type MessagesSearchInsideParams = {
    /** @description Only messages with lower ids. */
    before?: number;
    /**
     * Format: int64
     * @description The conversation.
     */
    conversation_id: number;
    /**
     * @description Number of rows, 20 by default. Values above 100 count as 100.
     * @default 20
     */
    limit?: number;
    /** @description The text to look for. */
    q: string;
};
export type MessagesEditParams = {
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
    /** @description null or empty only for the text of an image. */
    body?: string | null;
};
export type MessagesDeleteParams = {
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
};
export type MessagesReactParams = {
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
    /** @description Exactly one emoji. */
    emoji: string;
};
export type MessagesUnreactParams = {
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
    /** @description Exactly one emoji. */
    emoji: string;
};
export type MessagesReportParams = {
    /**
     * Format: int64
     * @description The message.
     */
    message_id: number;
    /** @description At most 100 characters. */
    reason: string;
    /** @description Free text for the staff, at most 2000 characters. */
    comment?: string | null;
};
export type MessagesSearchEverywhereParams = {
    /** @description `next_cursor` of the page before. */
    cursor?: string;
    /**
     * @description Number of rows, 20 by default. Values above 100 count as 100.
     * @default 20
     */
    limit?: number;
    /** @description The text to look for. */
    q: string;
};
export type MessagesSearchUsersParams = {
    /**
     * @description Number of rows, 20 by default. Values above 50 count as 50.
     * @default 20
     */
    limit?: number;
    /** @description The text to look for. */
    q: string;
};
export type MessagesGetUserParams = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
};
export type NotificationsListParams = {
    /** @description `next_cursor` of the page before; then `offset` is ignored. */
    cursor?: string;
    /**
     * @description Number of rows, 20 by default. Values above 50 count as 50.
     * @default 20
     */
    limit?: number;
    /** @description Rows to leave out; unsteady while rows return to the top. */
    offset?: number;
    /** @description Only unread rows. */
    unread?: boolean;
};
export type NotificationsDeleteParams = {
    /**
     * Format: int64
     * @description The notification.
     */
    notification_id: number;
};
export type NotificationsReadParams = {
    /**
     * Format: int64
     * @description The notification.
     */
    notification_id: number;
};
export type NotificationsPreferencesSetParams = {
    /** @description Whether it is switched on. */
    enabled: boolean;
    /** @description Notifications arrive without a sound. */
    quiet_mode: boolean;
    /** @description Notifications about likes. */
    likes: boolean;
    /** @description Notifications about comments and replies. */
    comments: boolean;
    /** @description Notifications about follows and requests to follow. */
    follows: boolean;
    /** @description Notifications about messages. */
    messages: boolean;
};
export type NotificationsPreferencesChangeParams = {
    /** @description Whether it is switched on. */
    enabled?: boolean;
    /** @description Notifications arrive without a sound. */
    quiet_mode?: boolean;
    /** @description Notifications about likes. */
    likes?: boolean;
    /** @description Notifications about comments and replies. */
    comments?: boolean;
    /** @description Notifications about follows and requests to follow. */
    follows?: boolean;
    /** @description Notifications about messages. */
    messages?: boolean;
};
export type ProfileUpdateParams = {
    /** @description The unique name. */
    username?: string;
    /** @description The first name. */
    first_name?: string;
    /** @description The last name. */
    last_name?: string;
    /** @description A text about the user, at most 500 characters. */
    bio?: string | null;
    /** @description A BCP 47 language tag. Supported: `en`, `ru`, `es`, `de`, `fr`, `pt`, `tr`, `uk`, `ar`, `zh`. Other tags fall back to their base, then to `en`. */
    language?: string | null;
};
export type ProfileAvatarSetParams = {
    /**
     * Format: binary
     * @description JPEG, PNG, WebP or GIF, at most 5 MB (5,242,880 bytes).
     */
    file: Blob;
};
export type ProfileBlocksListParams = {
    /** @description `next_cursor` of the page before. */
    cursor?: string;
    /**
     * @description Number of rows, 50 by default. Values above 100 count as 100.
     * @default 50
     */
    limit?: number;
};
export type ProfileBlocksAddParams = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
};
export type ProfileBlocksRemoveParams = {
    /**
     * Format: int64
     * @description The user.
     */
    user_id: number;
};
export type ProfilePrivacySetParams = {
    /** @description Who may start a conversation with the user. */
    who_can_message?: WhoCanMessage;
    /** @description Whether others see what the user has read, and the user what they have. */
    read_receipts?: boolean;
    /** @description Whether others see when the user is on line. */
    show_last_seen?: boolean;
    /** @description Calls use TURN servers only, which hides the user's network address. */
    relay_calls?: boolean;
};
export type ProfilePushTokenSetParams = {
    /** @description The registration token of the push provider. */
    token: string;
    /**
     * @description What the device is.
     * @default android
     * @enum {string}
     */
    platform?: "android" | "ios" | "web";
    /** @description The app's own name of the device: a new token takes the place of its old one. */
    device_id?: string | null;
    /**
     * @description The language of the device, for the texts of pushes.
     * @default
     */
    locale?: string | null;
    /**
     * @description The version of the app, for the list of devices.
     * @default
     */
    app_version?: string | null;
};
export type ProfilePushTokenRemoveParams = {
    /** @description The registration token of the push provider. */
    token: string;
};
export type RealtimeChangesParams = {
    /** @description The epoch of the position. */
    epoch?: string;
    /**
     * @description Number of rows, 100 by default. Values above 500 count as 500.
     * @default 100
     */
    limit?: number;
    /** @description The last event that is known: only later ones are returned. */
    since?: number;
};
export type Events = {
    /** @description There is a new message in a conversation. */
    "message.new": MessageData;
    /** @description The text of a message was changed. */
    "message.edited": MessageData;
    /** @description A message was deleted for both users. */
    "message.deleted": MessageDeletedData;
    /** @description The reactions to a message have changed. Contains all of them. */
    "message.reactions": ReactionsData;
    /** @description There is a new conversation. */
    "conversation.created": ConversationData;
    /** @description One of the two users has read a conversation. */
    "conversation.read": ConversationReadData;
    /** @description The user has cleared a conversation, here or on another device. */
    "conversation.cleared": ClearedData;
    /** @description The user has blocked or unblocked another user. */
    "block.changed": BlockData;
    /** @description The profile of a user has changed. */
    "profile.updated": ProfileData;
    /** @description There is a new notification, or an existing one has changed. */
    "notification.new": NotificationData;
    /** @description All notifications were marked read. */
    "notification.read_all": AllReadData;
    /** @description The state of a call has changed. */
    "call.updated": CallUpdatedData;
    /** @description The socket is signed in. Contains the position of the log and the live calls. */
    ready: ReadyData;
    /** @description Everything that was missed has been sent. */
    synced: PositionData;
    /** @description The position is too old or unknown. Load the state again and continue from `seq`. */
    resync: ResyncData;
    /** @description Answers `ping` with the current position of the log. */
    pong: PositionData;
    /** @description The other user types or has stopped. */
    typing: TypingData;
    /** @description The online status of a watched user has changed. */
    presence: PresenceData;
    /** @description Messages have arrived on a device of the other user. */
    "conversation.delivered": DeliveredData;
    /** @description The unread counts have changed. */
    badge: BadgeData;
    /** @description The token expires soon. Send `auth` with a new one. */
    "auth.expiring": ExpiringData;
    /** @description The server restarts soon. Connect again after `retry_ms`. */
    goaway: GoAwayData;
    /** @description A device of the other user rings. */
    "call.ringing": CallRingingData;
    /** @description An offer, an answer or an ICE candidate of the other device. */
    "call.signal": CallSignalData;
};
export type Commands = {
    /** @description Sends a text message. */
    "message.send": SendRequest;
    /** @description Replaces the text of the user's own message. */
    "message.edit": EditRequest;
    /** @description Deletes the user's own message for both users. */
    "message.delete": DeleteRequest;
    /** @description Adds an emoji to a message. */
    "message.react": ReactRequest;
    /** @description Removes an emoji of the user from a message. */
    "message.unreact": ReactRequest;
    /** @description Marks messages as read, up to the given one or the newest one. */
    "conversation.read": ReadRequest;
    /** @description Tells the other user that this user types or has stopped. */
    typing: TypingRequest;
    /** @description Returns the online status of the given users and sends `presence` events from now on. */
    "presence.watch": WatchRequest;
    /** @description Starts a call in a conversation. */
    "call.invite": InviteRequest;
    /** @description Tells the caller that this device rings. */
    "call.ringing": CallRequest;
    /** @description Accepts a ringing call on this device. */
    "call.accept": CallRequest;
    /** @description Declines a ringing call. */
    "call.decline": CallDeclineRequest;
    /** @description Cancels the user's own call while it rings. */
    "call.cancel": CallRequest;
    /** @description Passes an offer, an answer or an ICE candidate to the other device. */
    "call.signal": SignalRequest;
    /** @description Tells the server that media flows. */
    "call.connected": CallRequest;
    /** @description Ends a call. */
    "call.hangup": CallRequest;
    /** @description Signs the socket in, or renews its token. With `resume`, continues from a position in the log. */
    auth: AuthRequest;
    /** @description Replays the events after `seq`, then sends `synced`; or `resync` when that is not possible. */
    resume: PositionRequest;
    /** @description Confirms that all events up to `seq` are stored. */
    ack: AckRequest;
    /** @description Keeps the connection open. The server answers with `pong`. */
    ping: Record<string, never>;
};
export type Replies = {
    /** @description The reply to `message.send`. */
    "message.send": MessageReplyData;
    /** @description The reply to `message.edit`. */
    "message.edit": MessageReplyData;
    /** @description The reply to `message.delete`. */
    "message.delete": DeletedReplyData;
    /** @description The reply to `message.react`. */
    "message.react": ReactionsReplyData;
    /** @description The reply to `message.unreact`. */
    "message.unreact": ReactionsReplyData;
    /** @description The reply to `conversation.read`. */
    "conversation.read": ReadReplyData;
    /** @description The reply to `typing`. */
    typing: Record<string, never>;
    /** @description The reply to `presence.watch`. */
    "presence.watch": PresenceReplyData;
    /** @description The reply to `call.invite`. */
    "call.invite": CallRouteReplyData;
    /** @description The reply to `call.ringing`. */
    "call.ringing": CallReplyData;
    /** @description The reply to `call.accept`. */
    "call.accept": CallRouteReplyData;
    /** @description The reply to `call.decline`. */
    "call.decline": CallReplyData;
    /** @description The reply to `call.cancel`. */
    "call.cancel": CallReplyData;
    /** @description The reply to `call.signal`. */
    "call.signal": CallReplyData;
    /** @description The reply to `call.connected`. */
    "call.connected": CallReplyData;
    /** @description The reply to `call.hangup`. */
    "call.hangup": CallReplyData;
    /** @description The reply to `auth`. */
    auth: RenewedData;
    /** @description The reply to `ack`. */
    ack: Record<string, never>;
};

export interface AuthApi {
  /** Start a sensitive action */
  actionChallenge(params: AuthActionChallengeParams, options?: CallOptions): Promise<ChallengeResponse>;
  /** Confirm a sensitive action */
  actionVerify(params: AuthActionVerifyParams, options?: CallOptions): Promise<ActionResponse>;
  /** Request a new e-mail address */
  changeEmail(params: AuthChangeEmailParams, options?: CallOptions): Promise<NoticeResponse>;
  /** Undo a change of the e-mail address */
  changeEmailUndo(params: AuthChangeEmailUndoParams, options?: CallOptions): Promise<NoticeResponse>;
  /** Confirm the new e-mail address */
  changeEmailVerify(params: AuthChangeEmailVerifyParams, options?: CallOptions): Promise<ChangeEmailResponse>;
  /** Change the password */
  changePassword(params: AuthChangePasswordParams, options?: CallOptions): Promise<PasswordChangedResponse>;
  /** Delete the account */
  deleteAccount(params: AuthDeleteAccountParams, options?: CallOptions): Promise<AccountDeletionResponse>;
  /** List trusted devices */
  devicesList(params?: Record<string, never>, options?: CallOptions): Promise<TrustedDevicesResponse>;
  /** Remove a trusted device */
  devicesRemove(params: AuthDevicesRemoveParams, options?: CallOptions): Promise<OkResponse>;
  /** Export all personal data */
  export(params: AuthExportParams, options?: CallOptions): Promise<Blob>;
  /** Request a password reset */
  forgotPassword(params: AuthForgotPasswordParams, options?: CallOptions): Promise<NoticeResponse>;
  /** Get a token for another service */
  identityToken(params: AuthIdentityTokenParams, options?: CallOptions): Promise<IdentityTokenResponse>;
  /** Sign in */
  login(params: AuthLoginParams, options?: CallOptions): Promise<LoginResponse>;
  /** Sign out */
  logout(params?: Record<string, never>, options?: CallOptions): Promise<OkResponse>;
  /** Get the signed-in user */
  me(params?: Record<string, never>, options?: CallOptions): Promise<MeResponse>;
  /** Refresh the session token */
  refresh(params?: Record<string, never>, options?: CallOptions): Promise<TokenResponse>;
  /** Send a new confirmation code */
  resendOtp(params: AuthResendOtpParams, options?: CallOptions): Promise<NoticeResponse>;
  /** Mail a code for the second step */
  twoStepResend(params?: Record<string, never>, options?: CallOptions): Promise<NoticeResponse>;
  /** List security changes */
  securityChanges(params?: Record<string, never>, options?: CallOptions): Promise<SecurityChangesResponse>;
  /** List sessions */
  sessionsList(params?: Record<string, never>, options?: CallOptions): Promise<SessionsResponse>;
  /** End a session */
  sessionsEnd(params: AuthSessionsEndParams, options?: CallOptions): Promise<OkResponse>;
  /** End all other sessions */
  sessionsEndOthers(params?: Record<string, never>, options?: CallOptions): Promise<SessionsEndedResponse>;
  /** Create an account */
  signup(params: AuthSignupParams, options?: CallOptions): Promise<NoticeResponse>;
  /** Complete two-step sign-in */
  twoStep(params: AuthTwoStepParams, options?: CallOptions): Promise<TwoStepResponse>;
  /** Change the second password */
  twoStepChange(params: AuthTwoStepChangeParams, options?: CallOptions): Promise<OkResponse>;
  /** Turn off two-step verification */
  twoStepDisable(params: AuthTwoStepDisableParams, options?: CallOptions): Promise<OkResponse>;
  /** Turn on two-step verification */
  twoStepEnable(params: AuthTwoStepEnableParams, options?: CallOptions): Promise<RecoveryCodesResponse>;
  /** Complete sign-in with a recovery code */
  twoStepForgot(params: AuthTwoStepForgotParams, options?: CallOptions): Promise<RecoverySignInResponse>;
  /** Create new recovery codes */
  twoStepRecoveryCodes(params: AuthTwoStepRecoveryCodesParams, options?: CallOptions): Promise<RecoveryCodesResponse>;
  /** Get the state of two-step verification */
  twoStepStatus(params?: Record<string, never>, options?: CallOptions): Promise<TwoStepStatusResponse>;
  /** Confirm an e-mail address */
  verify(params: AuthVerifyParams, options?: CallOptions): Promise<SignInResponse>;
  /** Reset the password */
  verifyReset(params: AuthVerifyResetParams, options?: CallOptions): Promise<NoticeResponse>;
}

export interface CallsApi {
  /** List calls */
  list(params?: CallsListParams, options?: CallOptions): Promise<CallsResponse>;
  /** Get a call */
  get(params: CallsGetParams, options?: CallOptions): Promise<CallResponse>;
  /** Decline a call */
  decline(params: CallsDeclineParams, options?: CallOptions): Promise<CallResponse>;
  /** Get ICE servers */
  iceServers(params: CallsIceServersParams, options?: CallOptions): Promise<IceServersResponse>;
}

export interface MessagesApi {
  /** List conversations */
  listConversations(params?: MessagesListConversationsParams, options?: CallOptions): Promise<ConversationsResponse>;
  /** Start a conversation */
  startConversation(params: MessagesStartConversationParams, options?: CallOptions): Promise<ConversationResponse>;
  /** Get a conversation */
  getConversation(params: MessagesGetConversationParams, options?: CallOptions): Promise<ConversationResponse>;
  /** Clear a conversation */
  clearConversation(params: MessagesClearConversationParams, options?: CallOptions): Promise<ConversationClearedResponse>;
  /** Send an image */
  sendImage(params: MessagesSendImageParams, options?: CallOptions): Promise<MessageResponse>;
  /** List messages */
  list(params: MessagesListParams, options?: CallOptions): Promise<MessagesResponse>;
  /** Send a text message */
  send(params: MessagesSendParams, options?: CallOptions): Promise<MessageResponse>;
  /** Mark a conversation read */
  markRead(params: MessagesMarkReadParams, options?: CallOptions): Promise<ConversationReadResponse>;
  /** Search in a conversation */
  searchInside(params: MessagesSearchInsideParams, options?: CallOptions): Promise<SearchResponse>;
  /** Edit a message */
  edit(params: MessagesEditParams, options?: CallOptions): Promise<MessageResponse>;
  /** Delete a message */
  delete(params: MessagesDeleteParams, options?: CallOptions): Promise<MessageDeletedResponse>;
  /** Add a reaction */
  react(params: MessagesReactParams, options?: CallOptions): Promise<ReactionsResponse>;
  /** Remove a reaction */
  unreact(params: MessagesUnreactParams, options?: CallOptions): Promise<ReactionsResponse>;
  /** Report a message */
  report(params: MessagesReportParams, options?: CallOptions): Promise<ReportResponse>;
  /** Search in all conversations */
  searchEverywhere(params: MessagesSearchEverywhereParams, options?: CallOptions): Promise<SearchEverywhereResponse>;
  /** Search users */
  searchUsers(params: MessagesSearchUsersParams, options?: CallOptions): Promise<UsersResponse>;
  /** Get a user */
  getUser(params: MessagesGetUserParams, options?: CallOptions): Promise<UserResponse>;
}

export interface NotificationsApi {
  /** List notifications */
  list(params?: NotificationsListParams, options?: CallOptions): Promise<NotificationsResponse>;
  /** Delete a notification */
  delete(params: NotificationsDeleteParams, options?: CallOptions): Promise<NotificationDeletedResponse>;
  /** Mark a notification read */
  read(params: NotificationsReadParams, options?: CallOptions): Promise<NotificationReadResponse>;
  /** Get the notification preferences */
  preferences(params?: Record<string, never>, options?: CallOptions): Promise<PreferencesResponse>;
  /** Replace the notification preferences */
  preferencesSet(params: NotificationsPreferencesSetParams, options?: CallOptions): Promise<PreferencesResponse>;
  /** Change some notification preferences */
  preferencesChange(params?: NotificationsPreferencesChangeParams, options?: CallOptions): Promise<PreferencesResponse>;
  /** Mark all notifications read */
  readAll(params?: Record<string, never>, options?: CallOptions): Promise<NotificationsReadResponse>;
  /** Send a test push */
  testPush(params?: Record<string, never>, options?: CallOptions): Promise<TestPushResponse>;
  /** Get the unread counts */
  unreadCount(params?: Record<string, never>, options?: CallOptions): Promise<UnreadCountsResponse>;
}

export interface ProfileApi {
  /** Get the profile */
  get(params?: Record<string, never>, options?: CallOptions): Promise<ProfileResponse>;
  /** Update the profile */
  update(params?: ProfileUpdateParams, options?: CallOptions): Promise<ProfileResponse>;
  /** Set the profile picture */
  avatarSet(params: ProfileAvatarSetParams, options?: CallOptions): Promise<AvatarResponse>;
  /** Remove the profile picture */
  avatarRemove(params?: Record<string, never>, options?: CallOptions): Promise<AvatarResponse>;
  /** List blocked users */
  blocksList(params?: ProfileBlocksListParams, options?: CallOptions): Promise<BlocksResponse>;
  /** Block a user */
  blocksAdd(params: ProfileBlocksAddParams, options?: CallOptions): Promise<BlockResponse>;
  /** Unblock a user */
  blocksRemove(params: ProfileBlocksRemoveParams, options?: CallOptions): Promise<OkResponse>;
  /** Get the privacy settings */
  privacyGet(params?: Record<string, never>, options?: CallOptions): Promise<PrivacyResponse>;
  /** Update the privacy settings */
  privacySet(params?: ProfilePrivacySetParams, options?: CallOptions): Promise<PrivacyResponse>;
  /** Register a push token */
  pushTokenSet(params: ProfilePushTokenSetParams, options?: CallOptions): Promise<OkResponse>;
  /** Remove a push token */
  pushTokenRemove(params: ProfilePushTokenRemoveParams, options?: CallOptions): Promise<OkResponse>;
}

export interface RealtimeApi {
  /** List events */
  changes(params?: RealtimeChangesParams, options?: CallOptions): Promise<ChangesResponse>;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** How far an upload is, in bytes. */
  onProgress?: (loaded: number, total: number) => void;
  /** Tries of a call that may be repeated: 2 for reads unless said otherwise. */
  retry?: number;
  /** Another bearer token than that of the session. */
  token?: string;
  /** For a short request that should arrive although the page is being left. */
  keepalive?: boolean;
}
