"""What an account may do before its address is confirmed."""

from tests.client import ApiClient
from tests.contract.routes import address, protected_routes
from tests.factories import make_user, sign_in

# Everything else reaches another person or is a setting of security.
UNCONFIRMED_MAY = {
    ("POST", "auth/refresh"),
    ("POST", "auth/logout"),
    ("GET", "auth/me"),
    ("GET", "notifications"),
    ("GET", "notifications/unread-count"),
    ("GET", "notifications/preferences"),
    ("GET", "messages/conversations"),
    ("GET", "messages/conversations/<str:conversation_id>"),
    ("GET", "messages/conversations/<str:conversation_id>/messages"),
    ("POST", "messages/conversations/<str:conversation_id>/read"),
    ("GET", "realtime/changes"),
    ("DELETE", "profile/push-token"),
}
MUST_BE_CONFIRMED = {
    ("GET", "messages/users"),
    ("POST", "messages/conversations"),
    ("POST", "messages/conversations/<str:conversation_id>/messages"),
    ("POST", "messages/conversations/<str:conversation_id>/media"),
    ("PATCH", "messages/messages/<str:message_id>"),
    ("POST", "messages/messages/<str:message_id>/reactions"),
    ("DELETE", "messages/messages/<str:message_id>/reactions"),
    ("POST", "calls/<str:call_id>/decline"),
    ("GET", "calls/<str:call_id>/ice-servers"),
    ("POST", "profile/push-token"),
    ("POST", "notifications/test-push"),
    ("POST", "auth/action-challenge"),
    ("POST", "auth/action-verify"),
    ("POST", "auth/two-step/enable"),
    ("POST", "auth/two-step/change"),
    ("POST", "auth/two-step/disable"),
    ("POST", "auth/two-step/recovery-codes"),
    ("POST", "auth/change-password"),
    ("POST", "auth/change-email"),
    ("POST", "auth/change-email/verify"),
    ("POST", "auth/delete-account"),
    ("GET", "auth/export"),
}


def test_what_an_unconfirmed_account_may_and_may_not(db):
    ann = make_user("Ann", verified=False)
    routes = set(protected_routes())
    assert routes >= UNCONFIRMED_MAY | MUST_BE_CONFIRMED
    refused = set()
    for method, path in sorted(routes - {("POST", "auth/logout")}):
        body = ApiClient(sign_in(ann)[1]).raw(method, address(path), {}).json()
        if body.get("error") == "email_not_verified":
            refused.add((method, path))
    assert refused >= MUST_BE_CONFIRMED
    assert not refused & UNCONFIRMED_MAY
