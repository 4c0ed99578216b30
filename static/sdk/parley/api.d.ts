// Written by `manage.py write_sdk` from docs/openapi.json and the AsyncAPI document.

export type Account = { id: number; username: string; email: string; first_name: string; last_name: string; is_verified: boolean };
export type AccountDeletionResponse = { ok: true; message: string; erase_after: string };
export type AckRequest = { seq: number };
export type ActionResponse = { ok: true; action_token: string; expires_in: number };
export type ActionVerifyRequest = { challenge_token: string; code: string };
export type AllReadData = { unread_count: number };
export type AuthRequest = { token: string; resume?: PositionRequest | null };
export type AvatarResponse = { ok: true; avatar_url: string | null };
export type BadgeData = { unread_count: number; message_unread_count: number };
export type Block = { user_id: number; user: Person; created_at: string };
export type BlockData = { user_id: number; blocked: boolean };
export type BlockResponse = { ok: true; block: Block };
export type BlockUserRequest = { user_id: number };
export type BlocksResponse = { ok: true; has_more: boolean; next_cursor: string | null; blocks: Array<Block> };
export type Call = { id: number; conversation_id: number; caller_id: number; media: "audio" | "video"; state: "ringing" | "connecting" | "active" | "ended"; outcome: "completed" | "missed" | "canceled" | "declined" | "busy" | "failed" | "lost" | null; created_at: string; expires_at: string | null; answered_at: string | null; ended_at: string | null; duration_s: number | null; bound_to_you: boolean };
export type CallDeclineReason = "declined" | "busy";
export type CallDeclineRequest = { reason?: "declined" | "busy"; call_id: number };
export type CallMedia = "audio" | "video";
export type CallOutcome = "completed" | "missed" | "canceled" | "declined" | "busy" | "failed" | "lost";
export type CallReplyData = { call: Call };
export type CallRequest = { call_id: number };
export type CallResponse = { ok: true; call: Call };
export type CallRingingData = { call_id: number };
export type CallRouteReplyData = { call: Call; ice_servers: Array<IceServer>; ice_transport_policy: "all" | "relay" };
export type CallSignalData = { call_id: number; kind: "offer" | "answer" | "ice" | "restart" | "media"; payload: Record<string, unknown> };
export type CallState = "ringing" | "connecting" | "active" | "ended";
export type CallSummary = { id: number; media: "audio" | "video"; outcome: string; duration_s: number | null };
export type CallUpdatedData = { call: Call | null };
export type CallsResponse = { ok: true; calls: Array<Call>; has_more: boolean };
export type ChallengeRequest = { action: string };
export type ChallengeResponse = { ok: true; challenge_token: string; expires_in: number };
export type ChangeEmailRequest = { email: string };
export type ChangeEmailResponse = { ok: true; message: string; email: string };
export type ChangeEmailVerifyRequest = { code: string };
export type ChangePasswordRequest = { current_password: string; new_password: string };
export type ChangePreferencesRequest = { enabled?: boolean; quiet_mode?: boolean; likes?: boolean; comments?: boolean; follows?: boolean; messages?: boolean };
export type ChangesResponse = { ok: true; epoch: string; events: Array<LoggedEvent>; seq: number; has_more: boolean; reset: boolean };
export type ClearedData = { conversation_id: number; cleared_up_to_id: number };
export type Conversation = { id: number; other_user: Person; last_message: LastMessage | null; unread_count: number; last_read_id: number; other_last_read_id: number | null; other_delivered_id: number | null; is_blocked: boolean };
export type ConversationClearedResponse = { ok: true; cleared_up_to_id: number };
export type ConversationData = { conversation: Conversation | null };
export type ConversationReadData = { conversation_id: number; user_id: number; last_read_id: number; unread_count: number };
export type ConversationReadResponse = { ok: true; last_read_id: number; unread_count: number; message_unread_count: number };
export type ConversationResponse = { ok: true; conversation: Conversation };
export type ConversationsResponse = { ok: true; has_more: boolean; next_cursor: string | null; conversations: Array<Conversation> };
export type DeclineRequest = { reason?: CallDeclineReason };
export type DeleteRequest = { message_id: number };
export type DeletedReplyData = { message_id: number };
export type DeliveredData = { conversation_id: number; user_id: number; delivered_id: number };
export type EditMessageRequest = { body?: string | null };
export type EditRequest = { body: string | null; message_id: number };
export type EmailRequest = { email: string };
export type EmailUndoRequest = { token: string };
export type Error = { ok: false; error: ErrorCode; message: string; fields?: Record<string, Array<string>>; retry_after?: number; request_id: string };
export type ErrorCode = "account_blocked" | "account_locked" | "action_token_invalid" | "action_token_required" | "call_conflict" | "conversation_not_found" | "email_not_verified" | "email_taken" | "file_too_large" | "idempotency_conflict" | "invalid_credentials" | "invalid_image" | "invalid_otp" | "invalid_two_step" | "message_not_found" | "message_permission_denied" | "method_not_allowed" | "not_acceptable" | "not_found" | "not_message_owner" | "parse_error" | "rate_limited" | "server_error" | "service_unavailable" | "token_expired" | "token_invalid" | "token_revoked" | "unsupported_media_type" | "user_blocked" | "user_not_found" | "username_taken" | "validation_error";
export type EventAction = "create" | "retract";
export type EventBatchRequest = { events: Array<EventRequest> };
export type EventRequest = { event_id: string; type: EventType; action?: EventAction; recipient_id: number; actor_id: number; target?: EventTargetRequest; comment_id?: number | null; occurred_at?: string | null };
export type EventResult = { event_id: string | null; result: string };
export type EventTargetRequest = { id: number; title?: string };
export type EventType = "comment" | "follow" | "follow_approved" | "follow_request" | "post_like" | "reply";
export type EventsRequest = EventRequest | EventBatchRequest;
export type EventsResponse = { ok: true; results: Array<EventResult> };
export type ExpiringData = { expires_at: string };
export type GoAwayData = { retry_ms: number };
export type IceServer = { urls: Array<string>; username?: string; credential?: string };
export type IceServersResponse = { ok: true; ice_servers: Array<IceServer>; ice_transport_policy: IceTransportPolicy };
export type IceTransportPolicy = "all" | "relay";
export type InviteRequest = { conversation_id: number; media: "audio" | "video"; client_id?: string | null };
export type LastMessage = { id: number; kind: "text" | "image" | "call"; body: string; sender_id: number; call: CallSummary | null; created_at: string };
export type LoggedEvent = { type: string; seq: number; at: string; data: Record<string, unknown> };
export type LoginRequest = { email: string; password: string };
export type LoginResponse = SignInResponse | TwoStepRequiredResponse;
export type MeResponse = { ok: true; user: OwnAccount };
export type Media = { width: number; height: number; mime: string; size: number; thumb_url: string; blurhash: string };
export type Message = { id: number; conversation_id: number; sender_id: number; kind: "text" | "image" | "call"; body: string | null; media_url: string | null; media: Media | null; reply_to_id: number | null; reply_to: ReplyPreview | null; is_edited: boolean; edited_at: string | null; reactions: Array<Reaction>; call: CallSummary | null; client_id: string | null; created_at: string };
export type MessageData = { conversation_id: number; message: Message; unread_count: number };
export type MessageDeletedData = { conversation_id: number; message_id: number; unread_count: number; last_message: LastMessage | null };
export type MessageDeletedResponse = { ok: true; message_id: number };
export type MessageKind = "text" | "image" | "call";
export type MessageReplyData = { message: Message };
export type MessageResponse = { ok: true; message: Message };
export type MessagesResponse = { ok: true; messages: Array<Message>; has_more: boolean };
export type NoticeResponse = { ok: true; message: string };
export type Notification = { id: number; type: "post_like" | "comment" | "reply" | "follow" | "follow_request" | "follow_approved" | "message"; is_read: boolean; actor: Person; target: NotificationTarget; count: number; created_at: string };
export type NotificationData = { notification_id: number; notification: Notification | null; unread_count: number; silent?: boolean };
export type NotificationDeletedResponse = { ok: true; unread_count: number; message_unread_count: number; notification_id: number };
export type NotificationReadResponse = { ok: true; unread_count: number; message_unread_count: number; notification: Notification };
export type NotificationTarget = { type: "post" | "user" | "conversation"; id: number; title: string };
export type NotificationTargetType = "post" | "user" | "conversation";
export type NotificationType = "post_like" | "comment" | "reply" | "follow" | "follow_request" | "follow_approved" | "message";
export type NotificationsReadResponse = { ok: true; unread_count: number; message_unread_count: number; updated: number };
export type NotificationsResponse = { ok: true; has_more: boolean; next_cursor: string | null; notifications: Array<Notification>; unread_count: number };
export type OkResponse = { ok: true };
export type OwnAccount = { id: number; username: string; email: string; first_name: string; last_name: string; is_verified: boolean; bio: string | null; avatar_url: string | null; created_at: string; is_admin: boolean };
export type PasswordChangedResponse = { ok: true; message: string; token: string };
export type Person = { id: number; username: string; first_name: string; last_name: string; avatar_url: string | null };
export type PositionData = { seq: number };
export type PositionRequest = { epoch: string; seq: number };
export type Preferences = { enabled: boolean; quiet_mode: boolean; likes: boolean; comments: boolean; follows: boolean; messages: boolean };
export type PreferencesResponse = { ok: true; preferences: Preferences };
export type PresenceData = { user_id: number; online: boolean; last_seen_at: string | null };
export type PresenceReplyData = { presence: Array<PresenceData> };
export type Privacy = { who_can_message: WhoCanMessage; read_receipts: boolean; show_last_seen: boolean; relay_calls: boolean };
export type PrivacyResponse = { ok: true; privacy: Privacy };
export type Profile = { id: number; username: string; email: string; first_name: string; last_name: string; is_verified: boolean; bio: string | null; avatar_url: string | null; created_at: string; language: string };
export type ProfileData = { user: Profile | null };
export type ProfileResponse = { ok: true; profile: Profile };
export type PushTokenRequest = { token: string; platform?: "android" | "ios" | "web"; device_id?: string | null; locale?: string | null; app_version?: string | null };
export type ReactRequest = { emoji: string; message_id: number };
export type Reaction = { emoji: string; count: number; user_ids: Array<number> };
export type ReactionRequest = { emoji: string };
export type ReactionsData = { conversation_id: number; message_id: number; reactions: Array<Reaction>; unread_count: number };
export type ReactionsReplyData = { reactions: Array<Reaction> };
export type ReactionsResponse = { ok: true; reactions: Array<Reaction> };
export type ReadReplyData = { last_read_id: number; unread_count: number; message_unread_count: number };
export type ReadRequest = { message_id?: number | null; conversation_id: number };
export type ReadyData = { user_id: number; epoch: string; seq: number; min_seq: number; ping_s: number; window: number; calls: Array<Call> };
export type RecoveryCodeRequest = { recovery_code: string };
export type RecoveryCodesResponse = { ok: true; recovery_codes: Array<string> };
export type RecoverySignInResponse = { ok: true; token: string; user: Account; recovery_codes_left: number };
export type RemovePushTokenRequest = { token: string };
export type RenewedData = { user_id: number };
export type ReplyPreview = { id: number; sender_id: number; kind: "text" | "image" | "call"; body: string | null; media_url: string | null; thumb_url: string | null };
export type ReportRequest = { reason: string; comment?: string | null };
export type ReportResponse = { ok: true; report_id: number };
export type ResetPasswordRequest = { email: string; code: string; new_password: string };
export type ResyncData = { seq: number; reason: string };
export type SearchResponse = { ok: true; messages: Array<Message>; has_more: boolean; next_before: number | null };
export type SendImageRequest = { file: string; body?: string; reply_to_id?: number; client_id?: string };
export type SendMessageRequest = { body: string; reply_to_id?: number | null; client_id?: string | null };
export type SendRequest = { body: string; reply_to_id?: number | null; client_id?: string | null; conversation_id: number };
export type Session = { id: number; device_name: string; ip: string | null; user_agent: string; created_at: string; last_used_at: string; is_current: boolean };
export type SessionsEndedResponse = { ok: true; revoked: number };
export type SessionsResponse = { ok: true; sessions: Array<Session> };
export type SetAvatarRequest = { file: string };
export type SetPreferencesRequest = { enabled: boolean; quiet_mode: boolean; likes: boolean; comments: boolean; follows: boolean; messages: boolean };
export type SignInResponse = { ok: true; token: string; user: Account };
export type SignUpRequest = { first_name: string; last_name: string; email: string; password: string; language?: string | null };
export type SignalRequest = { call_id: number; kind: "offer" | "answer" | "ice" | "restart" | "media"; payload: Record<string, unknown> };
export type StartConversationRequest = { user_id: number };
export type TestPushResponse = { ok: true; devices: number };
export type TokenResponse = { ok: true; token: string };
export type TrustedDevice = { id: number; device_name: string; created_at: string; last_used_at: string; expires_at: string };
export type TrustedDevicesResponse = { ok: true; devices: Array<TrustedDevice> };
export type TwoStepChangeRequest = { password?: string; new_password: string; hint?: string | null };
export type TwoStepDisableRequest = { password: string };
export type TwoStepEnableRequest = { password: string; hint?: string | null };
export type TwoStepRequest = { password: string; remember?: boolean };
export type TwoStepRequiredResponse = { ok: true; two_step_required: true; two_step_token: string; hint: string };
export type TwoStepResponse = { ok: true; token: string; user: Account; device_token?: string };
export type TwoStepStatusResponse = { ok: true; enabled: boolean; hint: string; recovery_codes_left: number; updated_at: string | null };
export type TypingData = { conversation_id: number; user_id: number; is_typing: boolean };
export type TypingRequest = { conversation_id: number; is_typing: boolean };
export type UnreadCountsResponse = { ok: true; unread_count: number; message_unread_count: number };
export type UpToMessageRequest = { message_id?: number | null };
export type UpdatePrivacyRequest = { who_can_message?: WhoCanMessage; read_receipts?: boolean; show_last_seen?: boolean; relay_calls?: boolean };
export type UpdateProfileRequest = { username?: string; first_name?: string; last_name?: string; bio?: string | null; language?: string | null };
export type UsersResponse = { ok: true; users: Array<Person> };
export type VerifyRequest = { email: string; code: string };
export type WatchRequest = { user_ids: Array<number> };
export type WhoCanMessage = "everyone" | "contacts" | "nobody";

export interface Events {
  "message.new": MessageData;
  "message.edited": MessageData;
  "message.deleted": MessageDeletedData;
  "message.reactions": ReactionsData;
  "conversation.created": ConversationData;
  "conversation.read": ConversationReadData;
  "conversation.cleared": ClearedData;
  "block.changed": BlockData;
  "profile.updated": ProfileData;
  "notification.new": NotificationData;
  "notification.read_all": AllReadData;
  "call.updated": CallUpdatedData;
  "ready": ReadyData;
  "synced": PositionData;
  "resync": ResyncData;
  "pong": PositionData;
  "typing": TypingData;
  "presence": PresenceData;
  "conversation.delivered": DeliveredData;
  "badge": BadgeData;
  "auth.expiring": ExpiringData;
  "goaway": GoAwayData;
  "call.ringing": CallRingingData;
  "call.signal": CallSignalData;
}

export interface Commands {
  "message.send": SendRequest;
  "message.edit": EditRequest;
  "message.delete": DeleteRequest;
  "message.react": ReactRequest;
  "message.unreact": ReactRequest;
  "conversation.read": ReadRequest;
  "typing": TypingRequest;
  "presence.watch": WatchRequest;
  "call.invite": InviteRequest;
  "call.ringing": CallRequest;
  "call.accept": CallRequest;
  "call.decline": CallDeclineRequest;
  "call.cancel": CallRequest;
  "call.signal": SignalRequest;
  "call.connected": CallRequest;
  "call.hangup": CallRequest;
  "auth": AuthRequest;
  "resume": PositionRequest;
  "ack": AckRequest;
  "ping": Record<string, unknown>;
}

export interface Replies {
  "message.send": MessageReplyData;
  "message.edit": MessageReplyData;
  "message.delete": DeletedReplyData;
  "message.react": ReactionsReplyData;
  "message.unreact": ReactionsReplyData;
  "conversation.read": ReadReplyData;
  "typing": Record<string, unknown>;
  "presence.watch": PresenceReplyData;
  "call.invite": CallRouteReplyData;
  "call.ringing": CallReplyData;
  "call.accept": CallRouteReplyData;
  "call.decline": CallReplyData;
  "call.cancel": CallReplyData;
  "call.signal": CallReplyData;
  "call.connected": CallReplyData;
  "call.hangup": CallReplyData;
  "auth": RenewedData;
  "ack": Record<string, unknown>;
}

export interface AuthApi {
  actionChallenge(params: { action: string }, options?: CallOptions): Promise<ChallengeResponse>;
  actionVerify(params: { challenge_token: string; code: string }, options?: CallOptions): Promise<ActionResponse>;
  changeEmail(params: { action_token: string; email: string }, options?: CallOptions): Promise<NoticeResponse>;
  changeEmailUndo(params: { token: string }, options?: CallOptions): Promise<NoticeResponse>;
  changeEmailVerify(params: { code: string }, options?: CallOptions): Promise<ChangeEmailResponse>;
  changePassword(params: { action_token: string; current_password: string; new_password: string }, options?: CallOptions): Promise<PasswordChangedResponse>;
  deleteAccount(params: { action_token: string }, options?: CallOptions): Promise<AccountDeletionResponse>;
  devicesList(params?: {}, options?: CallOptions): Promise<TrustedDevicesResponse>;
  devicesRemove(params: { device_id: number }, options?: CallOptions): Promise<OkResponse>;
  export(params: { action_token: string }, options?: CallOptions): Promise<Blob>;
  forgotPassword(params: { email: string }, options?: CallOptions): Promise<NoticeResponse>;
  login(params: { email: string; password: string }, options?: CallOptions): Promise<LoginResponse>;
  logout(params?: {}, options?: CallOptions): Promise<OkResponse>;
  me(params?: {}, options?: CallOptions): Promise<MeResponse>;
  refresh(params?: {}, options?: CallOptions): Promise<TokenResponse>;
  resendOtp(params: { email: string }, options?: CallOptions): Promise<NoticeResponse>;
  twoStepResend(params?: {}, options?: CallOptions): Promise<NoticeResponse>;
  sessionsList(params?: {}, options?: CallOptions): Promise<SessionsResponse>;
  sessionsEnd(params: { session_id: number }, options?: CallOptions): Promise<OkResponse>;
  sessionsEndOthers(params?: {}, options?: CallOptions): Promise<SessionsEndedResponse>;
  signup(params: { first_name: string; last_name: string; email: string; password: string; language?: string | null }, options?: CallOptions): Promise<NoticeResponse>;
  twoStep(params: { password: string; remember?: boolean }, options?: CallOptions): Promise<TwoStepResponse>;
  twoStepChange(params: { action_token: string; password?: string; new_password: string; hint?: string | null }, options?: CallOptions): Promise<OkResponse>;
  twoStepDisable(params: { action_token: string; password: string }, options?: CallOptions): Promise<OkResponse>;
  twoStepEnable(params: { action_token: string; password: string; hint?: string | null }, options?: CallOptions): Promise<RecoveryCodesResponse>;
  twoStepForgot(params: { recovery_code: string }, options?: CallOptions): Promise<RecoverySignInResponse>;
  twoStepRecoveryCodes(params: { action_token: string }, options?: CallOptions): Promise<RecoveryCodesResponse>;
  twoStepStatus(params?: {}, options?: CallOptions): Promise<TwoStepStatusResponse>;
  verify(params: { email: string; code: string }, options?: CallOptions): Promise<SignInResponse>;
  verifyReset(params: { email: string; code: string; new_password: string }, options?: CallOptions): Promise<NoticeResponse>;
}

export interface CallsApi {
  list(params?: { before?: number; limit?: number }, options?: CallOptions): Promise<CallsResponse>;
  get(params: { call_id: number }, options?: CallOptions): Promise<CallResponse>;
  decline(params: { call_id: number; reason?: CallDeclineReason }, options?: CallOptions): Promise<CallResponse>;
  iceServers(params: { call_id: number }, options?: CallOptions): Promise<IceServersResponse>;
}

export interface MessagesApi {
  listConversations(params?: { cursor?: string; limit?: number }, options?: CallOptions): Promise<ConversationsResponse>;
  startConversation(params: { user_id: number }, options?: CallOptions): Promise<ConversationResponse>;
  getConversation(params: { conversation_id: number }, options?: CallOptions): Promise<ConversationResponse>;
  clearConversation(params: { conversation_id: number; message_id?: number | null }, options?: CallOptions): Promise<ConversationClearedResponse>;
  sendImage(params: { conversation_id: number; file: Blob; body?: string; reply_to_id?: number; client_id?: string }, options?: CallOptions): Promise<MessageResponse>;
  list(params: { after?: number; before?: number; conversation_id: number; limit?: number }, options?: CallOptions): Promise<MessagesResponse>;
  send(params: { conversation_id: number; body: string; reply_to_id?: number | null; client_id?: string | null }, options?: CallOptions): Promise<MessageResponse>;
  markRead(params: { conversation_id: number; message_id?: number | null }, options?: CallOptions): Promise<ConversationReadResponse>;
  searchInside(params: { before?: number; conversation_id: number; limit?: number; q: string }, options?: CallOptions): Promise<SearchResponse>;
  edit(params: { message_id: number; body?: string | null }, options?: CallOptions): Promise<MessageResponse>;
  delete(params: { message_id: number }, options?: CallOptions): Promise<MessageDeletedResponse>;
  react(params: { message_id: number; emoji: string }, options?: CallOptions): Promise<ReactionsResponse>;
  unreact(params: { message_id: number; emoji: string }, options?: CallOptions): Promise<ReactionsResponse>;
  report(params: { message_id: number; reason: string; comment?: string | null }, options?: CallOptions): Promise<ReportResponse>;
  searchUsers(params: { limit?: number; q: string }, options?: CallOptions): Promise<UsersResponse>;
}

export interface NotificationsApi {
  list(params?: { cursor?: string; limit?: number; offset?: number; unread?: boolean }, options?: CallOptions): Promise<NotificationsResponse>;
  delete(params: { notification_id: number }, options?: CallOptions): Promise<NotificationDeletedResponse>;
  read(params: { notification_id: number }, options?: CallOptions): Promise<NotificationReadResponse>;
  preferences(params?: {}, options?: CallOptions): Promise<PreferencesResponse>;
  preferencesSet(params: { enabled: boolean; quiet_mode: boolean; likes: boolean; comments: boolean; follows: boolean; messages: boolean }, options?: CallOptions): Promise<PreferencesResponse>;
  preferencesChange(params?: { enabled?: boolean; quiet_mode?: boolean; likes?: boolean; comments?: boolean; follows?: boolean; messages?: boolean }, options?: CallOptions): Promise<PreferencesResponse>;
  readAll(params?: {}, options?: CallOptions): Promise<NotificationsReadResponse>;
  testPush(params?: {}, options?: CallOptions): Promise<TestPushResponse>;
  unreadCount(params?: {}, options?: CallOptions): Promise<UnreadCountsResponse>;
}

export interface ProfileApi {
  get(params?: {}, options?: CallOptions): Promise<ProfileResponse>;
  update(params?: { username?: string; first_name?: string; last_name?: string; bio?: string | null; language?: string | null }, options?: CallOptions): Promise<ProfileResponse>;
  avatarSet(params: { file: Blob }, options?: CallOptions): Promise<AvatarResponse>;
  avatarRemove(params?: {}, options?: CallOptions): Promise<AvatarResponse>;
  blocksList(params?: { cursor?: string; limit?: number }, options?: CallOptions): Promise<BlocksResponse>;
  blocksAdd(params: { user_id: number }, options?: CallOptions): Promise<BlockResponse>;
  blocksRemove(params: { user_id: number }, options?: CallOptions): Promise<OkResponse>;
  privacyGet(params?: {}, options?: CallOptions): Promise<PrivacyResponse>;
  privacySet(params?: { who_can_message?: WhoCanMessage; read_receipts?: boolean; show_last_seen?: boolean; relay_calls?: boolean }, options?: CallOptions): Promise<PrivacyResponse>;
  pushTokenSet(params: { token: string; platform?: "android" | "ios" | "web"; device_id?: string | null; locale?: string | null; app_version?: string | null }, options?: CallOptions): Promise<OkResponse>;
  pushTokenRemove(params: { token: string }, options?: CallOptions): Promise<OkResponse>;
}

export interface RealtimeApi {
  changes(params?: { epoch?: string; limit?: number; since?: number }, options?: CallOptions): Promise<ChangesResponse>;
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
