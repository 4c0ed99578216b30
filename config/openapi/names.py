"""One naming scheme for the schemas: `SendMessageRequest` comes in, `Message` is a thing, `MessageResponse` goes out."""

from typing import Any

# Class → the name of its schema, where the rule below gives an unclear name.
NAMES = {
    "AccountOutput": "Account",
    "OwnAccountOutput": "OwnAccount",
    "AddressInput": "EmailRequest",
    "CallLineOutput": "CallSummary",
    "ClearedReply": "ConversationClearedResponse",
    "CountsOutput": "UnreadCountsResponse",
    "DeletedReply": "MessageDeletedResponse",
    "DeletionOutput": "AccountDeletionResponse",
    "DeviceSerializer": "TrustedDevice",
    "DevicesOutput": "TrustedDevicesResponse",
    "EventsInput": "EventBatchRequest",
    "EmojiInput": "ReactionRequest",
    "FeedOutput": "NotificationsResponse",
    "NewTokenOutput": "PasswordChangedResponse",
    "PeopleReply": "UsersResponse",
    "PictureInput": "SetAvatarRequest",
    "PreferencesInput": "Preferences",
    "PushTokenInput": "PushTokenRequest",
    "PushTokenRemoval": "RemovePushTokenRequest",
    "ReadAllOutput": "NotificationsReadResponse",
    "ReadOutput": "NotificationReadResponse",
    "ReadReply": "ConversationReadResponse",
    "RecoveredOutput": "RecoverySignInResponse",
    "RecoveryInput": "RecoveryCodeRequest",
    "RemovedOutput": "NotificationDeletedResponse",
    "ResetInput": "ResetPasswordRequest",
    "RevokedOutput": "SessionsEndedResponse",
    "SentenceOutput": "NoticeResponse",
    "SignedInOutput": "SignInResponse",
    "SecondStepOutput": "TwoStepResponse",
    "UpToMessageInput": "UpToMessageRequest",
    "TargetSerializer": "NotificationTarget",
}
# drf-spectacular's name of a partial update → ours.
PATCHED = {
    "PatchedEditMessageRequest": "EditMessageRequest",
    "PatchedProfileRequest": "UpdateProfileRequest",
    "PatchedPreferencesRequest": "ChangePreferencesRequest",
    "PreferencesRequest": "SetPreferencesRequest",
    "PrivacyRequest": "UpdatePrivacyRequest",
    "BlockRequest": "BlockUserRequest",
    "ProfileRequest": "UpdateProfileRequest",
}
DELETE_WITH_BODY = {"profile_push_token_remove", "messages_unreact"}


def component_name(serializer: type, direction: str, *, fields: Any) -> str:
    """The name of a serializer's schema; drf-spectacular appends `Request` to those that come in."""
    name = NAMES.get(serializer.__name__)
    if name is None:
        name = serializer.__name__
        for ending in ("Serializer", "Input", "Output", "Reply"):
            name = name.removesuffix(ending)
        if direction == "response" and "ok" in fields:
            name += "Response"
    return name
