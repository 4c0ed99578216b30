import type { FunctionComponent, ReactNode } from "react";
import type {
  api, ConversationsPart, ConversationsState, MessagesPart, MessagesState, NotificationsPart, NotificationsState, OutboxItem,
  Parley, ShownCall, Status, UnreadState, User,
} from "./parley.js";

/** Gives the client to the hooks below it. */
export const ParleyProvider: FunctionComponent<{ client: Parley; children?: ReactNode }>;

/** The client. */
export function useParley(): Parley;

export function useStatus(): Status;

/** The signed-in user, or null. */
export function useUser(): User | null;

/** The list of conversations. It is loaded with the first use. */
export function useConversations(): ConversationsState & Pick<ConversationsPart, "loadOlder">;
export function useConversations<Selected>(
  selector: (state: ConversationsState) => Selected,
  isEqual?: (before: Selected, after: Selected) => boolean,
): Selected;

/** One conversation, also one that is further down the list; undefined until it is here. */
export function useConversation(id: number | null | undefined): api.Conversation | undefined;

export interface MessagesActions extends Pick<MessagesPart, "loadOlder" | "loadNewer" | "loadNewest"> {
  /** Undefined after a failure, which is in `error`. */
  loadAround(messageId: number): Promise<boolean | undefined>;
  /** Puts a message into the outbox. */
  send(body: string, more?: { reply_to_id?: number | null }): OutboxItem;
}

/** The messages of a conversation. They are loaded with the first use. */
export function useMessages(id: number): MessagesState & MessagesActions;
export function useMessages(id: number | null | undefined): (MessagesState & MessagesActions) | null;

export function useUnread(): UnreadState;

/** The ids of those who are typing. */
export function useTyping(id: number | null | undefined): readonly number[];

/** Null while unknown or hidden. */
export function usePresence(userId: number | null | undefined): api.PresenceData | null;

/** The notifications. They are loaded with the first use. */
export function useNotifications(): NotificationsState & Pick<NotificationsPart, "loadOlder">;
export function useNotifications<Selected>(
  selector: (state: NotificationsState) => Selected,
  isEqual?: (before: Selected, after: Selected) => boolean,
): Selected;

/** The call of this tab as it is now, or null. */
export function useCall(): ShownCall | null;
