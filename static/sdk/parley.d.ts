import type * as api from "./parley/api.js";
import type {
  Blob, Fetch, File, MediaDevices, MediaStream, PeerConnectionClass, RTCPeerConnection,
} from "./parley/platform.js";

export type { api };
export type {
  AuthApi, CallOptions, CallsApi, Commands, Events, Known, MessagesApi, NewerValue, NotificationsApi, ProfileApi,
  RealtimeApi, Replies,
} from "./parley/api.js";

export interface ParleyOptions {
  /** The address of the service; by default the page's own origin. Outside of a page it is required. */
  baseUrl?: string;
  /** Keeps the sign-in and unsent messages: by default localStorage in browsers, memory elsewhere. */
  storage?: StorageLike;
  /** A BCP 47 code, sent as Accept-Language. */
  language?: string | null;
  /** In place of the global one. */
  fetch?: Fetch;
  /** In place of the global one; needed by Node 20 without its flag. Null for an app that does not connect. */
  WebSocket?: (new (url: string) => unknown) | null;
  /** In place of the global one, for calls. */
  RTCPeerConnection?: PeerConnectionClass;
  /** Microphones and cameras, in place of those of the browser. */
  mediaDevices?: MediaDevices;
  /** The name of this device in the list of sessions. */
  deviceName?: string | null;
  /** Milliseconds after which a request without a reply is a `network_error`; uploads and downloads have no limit. */
  timeout?: number;
  /** Prefix of all stored keys. Two clients on one page need different ones. */
  name?: string;
}

/** The part of the browsers' `Storage` that the SDK uses. */
export interface StorageLike {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The codes of the API and those of the SDK itself. A newer server may send others: treat them by `status`. */
export type ParleyErrorCode =
  | api.ErrorCode
  /** The server cannot be reached. */
  | "network_error"
  /** The call was ended by its `AbortSignal`, or by a sign-out. */
  | "aborted"
  /** The answer is not one of this API, as from a proxy. */
  | "bad_response"
  /** Calls need WebRTC, a microphone and a page that was loaded by https. */
  | "calls_unsupported"
  /** The browser lets no page read what it draws. */
  | "canvas_blocked"
  /** The file was moved or changed since it was chosen. */
  | "file_unreadable";

/** Every promise of the SDK is rejected with one. */
export class ParleyError extends Error {
  /** Branch on this, never on the message. */
  readonly code: ParleyErrorCode;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** With `validation_error`: the problems of each field. */
  readonly fields: Record<string, string[]> | null;
  /** Seconds, with 429 and 503. */
  readonly retryAfter: number | null;
  /** Names the request in the server's log. */
  readonly requestId: string | null;
  /** Whether the same call may succeed later without a change. */
  readonly isTemporary: boolean;
}

export type Status = "connecting" | "online" | "offline";
/** `signed_out` is the user's own choice. */
export type SignOutReason = "signed_out" | "token_revoked" | "token_expired" | "token_invalid" | "account_blocked" | api.NewerValue;
/** Why there is no connection: what the SDK or the browser noticed, a close reason, or the code of an error. */
export type OfflineReason = "offline" | "no_answer" | "silence" | api.CloseReason | ParleyErrorCode;
/** `start` is the first connection of a client without a place. */
export type ReloadReason = "start" | api.ResyncReason;
/** The account; the SDK adds the fields of `auth.me` and of the profile once it has read them. */
export type User = api.Account & Partial<api.OwnAccount & api.Profile>;

/** The events that the SDK adds to those of the protocol. */
export interface OwnEvents {
  /** The connection. `retryAt` is the time of the next try, in milliseconds. */
  status: { status: Status; retryAt?: number; reason?: OfflineReason };
  /** Load the state over REST now. */
  reload: { reason: ReloadReason; seq: number };
  /** A user has signed in, here or in another tab. */
  signedin: { user: User };
  /** `forget`: the sign-in was ended, here or elsewhere; remove what this device keeps of the user. */
  signedout: { reason: SignOutReason; forget: boolean };
  /** The session has a new token. */
  "session.renewed": { token: string };
  /** All messages that wait or have failed; again after each change. */
  outbox: { items: OutboxItem[] };
  /** The server has this message now. */
  "outbox.sent": { client_id: string; message: api.Message };
  /** The server has refused this message. */
  "outbox.failed": { client_id: string; conversation_id: number; error: ParleyError };
  /** One of the two has blocked the other. */
  "typing.refused": { conversation_id: number; error: ParleyError };
  /** A request was refused with 429; `operation` is its id in the reference. */
  ratelimited: { operation: string; retryAfter: number | null };
  /** The call of this tab has changed. */
  call: { call: Call };
  /** A call rings. */
  "call.incoming": { call: Call };
}

/** All events for `on`. Durable events arrive once and in order. */
export type ParleyEvents = api.Events & OwnEvents;

/** An event of the socket as it arrived. */
export interface Frame {
  type: string;
  /** Only durable events have a number and a time. */
  seq?: number;
  /** ISO 8601. */
  at?: string;
  data: unknown;
}

/** The arguments of a listener of `"*"`: the name of an event tells the type of its data. */
export type AnyEvent<Map> =
  | { [Name in keyof Map]: [name: Name, data: Map[Name]] }[keyof Map]
  | [name: api.NewerValue, data: unknown];
/** The same with the frame, of an event of the socket. */
export type AnyFrame<Map> =
  | { [Name in keyof Map]: [name: Name, data: Map[Name], frame: Frame | undefined] }[keyof Map]
  | [name: api.NewerValue, data: unknown, frame: Frame | undefined];

export class Emitter<Map> {
  /** Calls `handler` with the data of each such event. Returns the function that ends this. */
  on<Name extends keyof Map>(name: Name, handler: (data: Map[Name], frame?: Frame) => void): () => void;
  /** Calls `handler` with the name and the data of every event, also of those that this version does not know. */
  on(name: "*", handler: (...event: AnyFrame<Map>) => void): () => void;
  on(name: "*", handler: (...event: AnyEvent<Map>) => void): () => void;
  on(name: "*", handler: (name: keyof Map | api.NewerValue) => void): () => void;
  /** Calls `handler` with the next such event only. */
  once<Name extends keyof Map>(name: Name, handler: (data: Map[Name], frame?: Frame) => void): () => void;
  /** Ends what `on` began. */
  off<Name extends keyof Map>(name: Name, handler: (data: Map[Name], frame?: Frame) => void): void;
}

export interface Session {
  readonly isSignedIn: boolean;
  /** The bearer token; the SDK sends and renews it. */
  readonly token: string | null;
  readonly userId: number | null;
  readonly user: User | null;
  /** Between the first and the second password. */
  readonly twoStep: { hint: string } | null;
  /** Forgets the first password. */
  cancelTwoStep(): void;
  /** Ends the session, in all tabs; without a connection on this device only. */
  signOut(): Promise<void>;
  /** Asks for a new token now; the SDK does so in time by itself. */
  refresh(): Promise<void>;
}

/** A message on its way to the server. */
export interface OutboxItem {
  /** Makes the message safe to repeat; the sent message has the same. */
  client_id: string;
  conversation_id: number;
  body: string;
  reply_to_id: number | null;
  /** ISO 8601, by the clock of the device. */
  created_at: string;
  /** `failed`: the server has refused it. */
  state: "waiting" | "sending" | "failed";
  /** `status` is the one of HTTP; with 400, 413 and 415 the same content is refused again. */
  error: { code: ParleyErrorCode; message: string; status: number } | null;
  /** When the next try is planned, in milliseconds of the device's clock. */
  retryAt: number | null;
  /** The picture of the message. */
  file: Blob | null;
  /** Of an upload: 0 to 1. */
  progress: number;
}

export interface Outbox {
  /** Sends a text now, or once there is a connection. */
  send(message: { conversation_id: number; body: string; reply_to_id?: number | null }): OutboxItem;
  /** Sends a picture now, or once there is a connection. */
  sendImage(message: { conversation_id: number; file: Blob; body?: string; reply_to_id?: number | null }): OutboxItem;
  /** What waits or has failed, of one conversation or of all. */
  items(conversationId?: number | null): OutboxItem[];
  /** Sends a failed message again. */
  retry(clientId: string): void;
  /** Takes a message back that has not been sent. */
  remove(clientId: string): void;
  /** Tries now. */
  flush(): void;
}

export interface Presence {
  /** What is known of a watched user. */
  get(userId: number): api.PresenceData | undefined;
  /** Watches these users. Returns the function that ends this. */
  watch(userIds: Iterable<number>, handler?: ((data: api.PresenceData) => void) | null): () => void;
}

/** Measured by the browser, every few seconds. */
export interface CallStats {
  rtt_ms: number | null;
  /** Share of lost packets: 0 to 1. */
  loss: number;
  jitter_ms: number;
  bitrate_kbps: number;
  frames_decoded: number;
  /** Own and other side: `host`, `srflx`, `prflx` or `relay`. */
  candidate_types: [string | null, string | null] | null;
}

export type CallEndReason =
  | api.CallOutcome
  | "answered_elsewhere" | "microphone_denied" | "devices_missing" | "devices_failed" | "signed_out"
  | ParleyErrorCode;

/** A call as this tab sees it. */
export class Call extends Emitter<{ change: Call; ended: Call }> {
  /** null until the server has it. */
  readonly id: number | null;
  readonly conversation_id: number;
  readonly caller_id: number;
  readonly media: api.CallMedia;
  readonly direction: "outgoing" | "incoming";
  readonly state: "starting" | "ringing" | "connecting" | "active" | "ended";
  /** Neither ended nor refused. */
  readonly isLive: boolean;
  /** What the server says about the end. */
  readonly outcome: api.CallOutcome | null;
  /** Why it has ended in this tab. */
  readonly endReason: CallEndReason | null;
  readonly error: Error | null;
  /** A device of the other user rings. */
  readonly peerRinging: boolean;
  /** Milliseconds by the server's clock. */
  readonly answeredAt: number | null;
  /** Seconds since the answer. */
  readonly duration: number;
  /** Sound and picture can flow. */
  readonly mediaConnected: boolean;
  /** The connection was lost and is being made again. */
  readonly reconnecting: boolean;
  readonly localStream: MediaStream | null;
  readonly remoteStream: MediaStream | null;
  /** What the other side sends. */
  readonly remote: { audio: boolean; video: boolean; screen: boolean };
  readonly muted: boolean;
  readonly cameraOn: boolean;
  /** This side shares its screen. */
  readonly sharing: boolean;
  readonly cameraError: "denied" | "missing" | "failed" | null;
  /** Why there is no microphone any more: it was unplugged, and there is no other one. */
  readonly microphoneError: "denied" | "missing" | "failed" | null;
  /** Microphones that have come since the call began, for `setDevice`. */
  readonly offeredMicrophones: Device[];
  readonly quality: "good" | "fair" | "poor" | null;
  readonly stats: CallStats | null;
  readonly peer: RTCPeerConnection | null;
  /** Answers; `camera: false` answers a video call without a picture. */
  accept(options?: { camera?: boolean }): Promise<void>;
  /** Refuses an incoming call. */
  decline(reason?: api.CallDeclineReason): Promise<void>;
  /** Ends an outgoing call before it is answered. */
  cancel(): Promise<void>;
  /** Ends a call that was answered. */
  hangup(): Promise<void>;
  /** Declines, cancels or hangs up, whichever fits. */
  end(): Promise<void>;
  /** Switches the own microphone. */
  setMuted(isMuted: boolean): Promise<void>;
  /** Switches the own camera. */
  setCamera(isOn: boolean): Promise<void>;
  /** Shares the screen in place of the camera, or ends that. */
  setSharing(isOn: boolean): Promise<void>;
  /** Takes another microphone or camera, by `deviceId`. */
  setDevice(choice: { audio?: string; video?: string }): Promise<void>;
  /** Takes the camera on the other side of a phone; of a device that tells no sides, the next one. */
  switchCamera(): Promise<void>;
}

export interface Device {
  deviceId: string;
  label: string;
}

export interface Calls extends api.CallsApi {
  /** The call of this tab. */
  readonly current: Call | null;
  /** False without WebRTC, without `MediaStream`, or on a page that was not loaded by https. */
  readonly isSupported: boolean;
  /** Calls the other user of a conversation. */
  invite(call: { conversation_id: number; media?: api.CallMedia }): Call;
  /** The devices that a call can use; their labels are empty before the user has allowed one. */
  devices(): Promise<{ audio: Device[]; video: Device[]; output: Device[] }>;
}

/** A position in the event log. */
export interface Place {
  epoch: string;
  seq: number;
}

/** What an app has of the service, without the store. */
export class Client extends Emitter<ParleyEvents> {
  constructor(options?: ParleyOptions);
  readonly baseUrl: string;
  language: string | null;
  readonly auth: api.AuthApi;
  readonly messages: api.MessagesApi;
  readonly notifications: api.NotificationsApi;
  readonly profile: api.ProfileApi;
  readonly realtime: api.RealtimeApi;
  readonly calls: Calls;
  readonly session: Session;
  readonly presence: Presence;
  readonly outbox: Outbox;
  readonly status: Status;
  readonly place: Place | null;
  now(): number;
  connect(place?: Place | null): void;
  disconnect(): void;
  command<Name extends keyof api.Commands>(
    type: Name,
    data: api.Commands[Name],
  ): Promise<Name extends keyof api.Replies ? api.Replies[Name] : unknown>;
  typing(conversationId: number, isTyping?: boolean): void;
  mediaUrl(path: string): string;
  mediaUrl(path: null | undefined): null;
  mediaUrl(path: string | null | undefined): string | null;
  close(): void;
}

// --- The store -------------------------------------------------------------------------------

/** Something that can be watched: a value that is replaced when it changes, and listeners. */
export interface Readable<Value> {
  getSnapshot(): Value;
  /** The value before anything was loaded: what a server renders. */
  getInitialSnapshot(): Value;
  /** Calls `listener` after each change. Returns the function that ends this. */
  subscribe(listener: () => void): () => void;
}

export interface Part<Value> extends Readable<Value> {
  /** A view of this part whose listeners are called only when what `selector` takes changes. */
  select<Selected>(
    selector: (value: Value) => Selected,
    isEqual?: (before: Selected, after: Selected) => boolean,
  ): Readable<Selected>;
}

export interface Loading {
  readonly isLoading: boolean;
  /** Why the last load failed. After an error that may pass, the store tries again by itself. */
  readonly error: ParleyError | null;
}

export interface ConversationsState extends Loading {
  /** Newest activity first; null until loaded. */
  readonly conversations: readonly api.Conversation[] | null;
  /** All that are known, also those that `loadOne` has loaded. */
  readonly byId: Readonly<Record<number, api.Conversation>>;
  readonly hasMore: boolean;
}

/** A message that waits for the server, or was refused. */
export interface WaitingMessage extends Omit<api.Message, "id" | "client_id"> {
  readonly id: null;
  readonly client_id: string;
  readonly state: OutboxItem["state"];
  readonly error: OutboxItem["error"];
  readonly retryAt: number | null;
  readonly file: Blob | null;
  readonly progress: number;
}

/** `id` tells which of the two it is. */
export type ShownMessage = (api.Message & { readonly state?: undefined }) | WaitingMessage;

export interface MessagesState extends Loading {
  /** Oldest first, then those that wait; null until loaded. */
  readonly messages: readonly ShownMessage[] | null;
  readonly hasOlder: boolean;
  /** Whether there are newer ones than those that are here: after `loadAround`. */
  readonly hasNewer: boolean;
}

export interface UnreadState {
  readonly message_unread_count: number;
  readonly unread_count: number;
}

export interface NotificationsState extends Loading {
  /** Newest first; null until loaded. */
  readonly notifications: readonly api.Notification[] | null;
  readonly hasMore: boolean;
}

/** What a call shows, at one moment; `call` takes the actions. */
export type ShownCall = { readonly call: Call } & Readonly<
  Pick<
    Call,
    | "id" | "conversation_id" | "caller_id" | "media" | "direction" | "state" | "isLive" | "outcome" | "endReason"
    | "peerRinging" | "answeredAt" | "mediaConnected" | "reconnecting" | "localStream" | "remoteStream" | "remote"
    | "muted" | "cameraOn" | "sharing" | "cameraError" | "microphoneError" | "quality"
  >
>;

export interface CallsState extends Loading {
  /** The call of this tab. One that has ended stays until `dismiss()` or the next one. */
  readonly current: ShownCall | null;
  /** Newest first; null until loaded. */
  readonly calls: readonly api.Call[] | null;
  readonly hasMore: boolean;
}

export interface StoreState {
  readonly conversations: ConversationsState;
  readonly unread: UnreadState;
  readonly notifications: NotificationsState;
  readonly calls: CallsState;
  readonly outbox: readonly OutboxItem[];
  /** By conversation: those that were asked for. */
  readonly messages: Readonly<Record<number, MessagesState>>;
  readonly typing: Readonly<Record<number, readonly number[]>>;
  readonly presence: Readonly<Record<number, api.PresenceData | null>>;
}

export interface ConversationsPart extends Part<ConversationsState> {
  /** Loads the first page, unless it is here. */
  load(): Promise<void>;
  loadOlder(): Promise<void>;
  /** The conversation of that id, which need not be in the pages that are loaded. */
  loadOne(id: number): Promise<api.Conversation | undefined>;
  /** Reads a conversation anew: the end of a block that the other user has made has no event. */
  refreshOne(id: number): Promise<api.Conversation | undefined>;
  /** The conversation with that user, which is opened if there is none. */
  start(userId: number): Promise<api.Conversation>;
}

export interface MessagesPart extends Part<MessagesState> {
  readonly conversationId: number;
  /** Loads the newest page, or `least` messages (100 with one request), unless messages are here. */
  load(options?: { least?: number }): Promise<void>;
  loadOlder(): Promise<void>;
  loadNewer(): Promise<void>;
  /** Loads the messages around this one in place of those that are here. Resolves to whether it is among them. */
  loadAround(messageId: number, options?: { isWanted?: () => boolean }): Promise<boolean>;
  /** Loads the newest page in place of messages that do not reach the end. */
  loadNewest(options?: { isWanted?: () => boolean }): Promise<void>;
  /** Keeps the newest `left` messages when there are more than `most`. */
  trim(most: number, left: number): void;
  /**
   * The reader has seen everything up to this message: the counts tell it at once, the server is told soon. To be
   * called for what a window in sight has shown.
   */
  see(messageId: number): void;
  /**
   * While the messages are shown: `isAtEnd()` tells whether what arrives next is seen at once, so that it does not
   * count. Returns the function that ends this.
   */
  follow(isAtEnd: () => boolean): () => void;
  edit(messageId: number, body: string): Promise<void>;
  delete(messageId: number): Promise<void>;
  react(messageId: number, emoji: string): Promise<void>;
  unreact(messageId: number, emoji: string): Promise<void>;
  /** Removes all messages for this user only. */
  clear(): Promise<void>;
}

export interface NotificationsPart extends Part<NotificationsState> {
  load(): Promise<void>;
  loadOlder(): Promise<void>;
  /** Marks one as read: here at once, then on the server. */
  read(id: number): Promise<void>;
  readAll(): Promise<void>;
}

export interface CallsPart extends Part<CallsState> {
  load(): Promise<void>;
  loadOlder(): Promise<void>;
  /** Takes an ended call away. */
  dismiss(): void;
}

export interface Store extends Part<StoreState> {
  readonly conversations: ConversationsPart;
  readonly unread: Part<UnreadState> & { load(): Promise<void> };
  readonly notifications: NotificationsPart;
  readonly calls: CallsPart;
  readonly outbox: Part<readonly OutboxItem[]>;
  messages(conversationId: number): MessagesPart;
  /** The ids of those who are typing. */
  typing(conversationId: number): Part<readonly number[]>;
  /** Null while unknown or hidden. The user is watched while there are listeners. */
  presence(userId: number): Part<api.PresenceData | null>;
  close(): void;
}

export class Parley extends Client {
  /** The version of this SDK. A server of a later minor version causes one warning on the console. */
  static readonly version: string;
  /** The state of the signed-in user, as far as it was loaded, kept true by the events. */
  readonly store: Store;
}

/** The limits of the server, to check before a request; lengths are in characters. */
export const LIMITS: {
  readonly bioLength: number;
  readonly hintLength: number;
  readonly imageBytes: number;
  readonly imagePixels: number;
  readonly imageSide: number;
  readonly imageTypes: readonly string[];
  readonly leastPasswordLength: number;
  readonly messageLength: number;
  readonly nameLength: number;
  readonly reactions: number;
  readonly reportCommentLength: number;
  readonly searchLength: number;
  /** A username can be changed once in so many days. */
  readonly usernameDays: number;
};

export function newClientId(): string;

/** Such as AsyncStorage of React Native. */
export interface AsyncStorageLike {
  getAllKeys(): Promise<readonly string[]>;
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<unknown>;
  removeItem(key: string): Promise<unknown>;
}

/**
 * The option `storage` for a storage whose methods return promises: what it holds under this name is read once, and
 * written as it changes. `flush` resolves when everything is written.
 */
export function openStorage(
  storage: AsyncStorageLike,
  options?: { name?: string },
): Promise<StorageLike & { flush(): Promise<void> }>;

/**
 * Prepares a picture for sending; in browsers only. A picture that the API accepts stays unchanged. A larger one is
 * scaled: upright, without metadata, and still transparent if it was. A picture of another type becomes a JPEG or PNG
 * if the browser can decode it. Rejects with a ParleyError: `unsupported_media_type`, `file_too_large` (an animation is
 * not scaled), `file_unreadable`, or `canvas_blocked` where the browser lets no page read what it draws.
 */
export function prepareImage(file: Blob, options?: {
  /** The largest size in bytes; by default LIMITS.imageBytes. */
  maxBytes?: number;
  /** The longest side in pixels; by default LIMITS.imageSide. */
  maxSide?: number;
}): Promise<File>;
