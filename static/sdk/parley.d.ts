import type * as api from "./parley/api.js";

export type { api };
export type {
  AuthApi, CallOptions, CallsApi, Commands, Events, MessagesApi, NotificationsApi, ProfileApi, RealtimeApi, Replies,
} from "./parley/api.js";

export interface ParleyOptions {
  /** Where the service is; the page's own origin unless said otherwise. */
  baseUrl?: string;
  /** Where the sign-in and unsent messages are kept: localStorage in browsers, memory elsewhere. */
  storage?: StorageLike;
  /** A BCP 47 code, sent as Accept-Language. */
  language?: string | null;
  fetch?: typeof globalThis.fetch;
  WebSocket?: new (url: string) => unknown;
  RTCPeerConnection?: typeof globalThis.RTCPeerConnection;
  mediaDevices?: MediaDevices;
  /** How this device is called in the list of sessions. */
  deviceName?: string | null;
  /** Milliseconds after which a write without a reply is a `network_error`; uploads have no limit. */
  timeout?: number;
  /** Prefix of everything that is kept; two clients on one page need two. */
  name?: string;
}

export interface StorageLike {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export class ParleyError extends Error {
  /** One of the codes of the API, or "network_error", "aborted". Branch on this, never on the message. */
  readonly code: string;
  /** HTTP status; 0 when nothing was answered. */
  readonly status: number;
  readonly fields: Record<string, string[]> | null;
  /** Seconds. */
  readonly retryAfter: number | null;
  readonly requestId: string | null;
  readonly isTemporary: boolean;
}

export type Status = "connecting" | "online" | "offline";
export type SignOutReason = "signed_out" | "token_revoked" | "token_expired" | "token_invalid" | "account_blocked" | (string & {});
export type User = api.Account & Partial<api.OwnAccount & api.Profile>;

export interface OwnEvents {
  status: { status: Status; retryAt?: number; reason?: string };
  /** Load the state over REST now. */
  reload: { reason: "start" | "epoch" | "too_old" | "ahead" | (string & {}); seq: number };
  signedin: { user: User };
  signedout: { reason: SignOutReason };
  "session.renewed": { token: string };
  outbox: { items: OutboxItem[] };
  "outbox.sent": { client_id: string; message: api.Message };
  "outbox.failed": { client_id: string; conversation_id: number; error: ParleyError };
  /** One of the two has blocked the other. */
  "typing.refused": { conversation_id: number; error: ParleyError };
  ratelimited: { operation: string; retryAfter: number | null };
  call: { call: Call };
  "call.incoming": { call: Call };
}

/** All events for `on`. Durable events arrive once and in order. */
export type ParleyEvents = api.Events & OwnEvents;

export interface Frame {
  type: string;
  seq?: number;
  at?: string;
  data: unknown;
}

export class Emitter<Map> {
  on<Name extends keyof Map>(name: Name, handler: (data: Map[Name], frame?: Frame) => void): () => void;
  on(name: "*", handler: (name: string, data: unknown, frame?: Frame) => void): () => void;
  once<Name extends keyof Map>(name: Name, handler: (data: Map[Name], frame?: Frame) => void): () => void;
  off<Name extends keyof Map>(name: Name, handler: (data: Map[Name], frame?: Frame) => void): void;
}

export interface Session {
  readonly isSignedIn: boolean;
  readonly token: string | null;
  readonly userId: number | null;
  readonly user: User | null;
  /** Between the first and the second password. */
  readonly twoStep: { hint: string } | null;
  cancelTwoStep(): void;
  signOut(): Promise<void>;
  refresh(): Promise<void>;
}

export interface OutboxItem {
  client_id: string;
  conversation_id: number;
  body: string;
  reply_to_id: number | null;
  created_at: string;
  state: "waiting" | "sending" | "failed";
  error: { code: string; message: string } | null;
  /** When the next try is planned, in milliseconds of the device's clock. */
  retryAt: number | null;
  file: Blob | null;
  /** Of an upload: 0 to 1. */
  progress: number;
}

export interface Outbox {
  send(message: { conversation_id: number; body: string; reply_to_id?: number | null }): OutboxItem;
  sendImage(message: { conversation_id: number; file: Blob; body?: string; reply_to_id?: number | null }): OutboxItem;
  items(conversationId?: number | null): OutboxItem[];
  retry(clientId: string): void;
  remove(clientId: string): void;
  flush(): void;
}

export interface Presence {
  get(userId: number): api.PresenceData | undefined;
  watch(userIds: Iterable<number>, handler?: ((data: api.PresenceData) => void) | null): () => void;
}

export interface CallStats {
  rtt_ms: number | null;
  loss: number;
  jitter_ms: number;
  bitrate_kbps: number;
  frames_decoded: number;
  candidate_types: [string | null, string | null] | null;
}

export class Call extends Emitter<{ change: Call; ended: Call }> {
  readonly id: number | null;
  readonly conversation_id: number;
  readonly caller_id: number;
  readonly media: api.CallMedia;
  readonly direction: "outgoing" | "incoming";
  readonly state: "starting" | "ringing" | "connecting" | "active" | "ended";
  readonly isLive: boolean;
  readonly outcome: api.CallOutcome | null;
  readonly endReason: api.CallOutcome | "answered_elsewhere" | "microphone_denied" | "devices_missing" | "devices_failed" | (string & {}) | null;
  readonly error: Error | null;
  readonly peerRinging: boolean;
  readonly answeredAt: number | null;
  readonly duration: number;
  readonly mediaConnected: boolean;
  readonly reconnecting: boolean;
  readonly localStream: MediaStream | null;
  readonly remoteStream: MediaStream | null;
  readonly remote: { audio: boolean; video: boolean; screen: boolean };
  readonly muted: boolean;
  readonly cameraOn: boolean;
  readonly sharing: boolean;
  readonly cameraError: "denied" | "missing" | "failed" | null;
  readonly quality: "good" | "fair" | "poor" | null;
  readonly stats: CallStats | null;
  readonly peer: RTCPeerConnection | null;
  accept(options?: { camera?: boolean }): Promise<void>;
  decline(reason?: api.CallDeclineReason): Promise<void>;
  cancel(): Promise<void>;
  hangup(): Promise<void>;
  /** Declines, cancels or hangs up, whichever fits. */
  end(): Promise<void>;
  setMuted(isMuted: boolean): Promise<void>;
  setCamera(isOn: boolean): Promise<void>;
  setSharing(isOn: boolean): Promise<void>;
  setDevice(choice: { audio?: string; video?: string }): Promise<void>;
}

export interface Device {
  deviceId: string;
  label: string;
}

export interface Calls extends api.CallsApi {
  readonly current: Call | null;
  invite(call: { conversation_id: number; media?: api.CallMedia }): Call;
  devices(): Promise<{ audio: Device[]; video: Device[]; output: Device[] }>;
}

export interface Place {
  epoch: string;
  seq: number;
}

export class Parley extends Emitter<ParleyEvents> {
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

export const LIMITS: {
  readonly imageBytes: number;
  readonly imageTypes: readonly string[];
  readonly messageLength: number;
  readonly reactions: number;
  readonly searchLength: number;
};

export function newClientId(): string;
