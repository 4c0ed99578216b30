"""The paths of the team's own server."""

from django.urls import include, path

from integrations.viewsets import (
    EventViewSet,
    IdentityTokenViewSet,
    IntrospectViewSet,
    ServerMessageViewSet,
    ServerUserViewSet,
)

app_name = "integrations"

_server = [
    path("users", ServerUserViewSet.as_view({"get": "list", "post": "create"}), name="users"),
    path(
        "users/<str:user_id>",
        ServerUserViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="user",
    ),
    path("users/<str:user_id>/block", ServerUserViewSet.as_view({"post": "block"}), name="block"),
    path("users/<str:user_id>/unblock", ServerUserViewSet.as_view({"post": "unblock"}), name="unblock"),
    path("users/<str:user_id>/sign-out", ServerUserViewSet.as_view({"post": "sign_out"}), name="sign-out"),
    path("users/<str:user_id>/sessions", ServerUserViewSet.as_view({"post": "open_session"}), name="sessions"),
    path("messages", ServerMessageViewSet.as_view({"post": "create"}), name="messages"),
    path("events", EventViewSet.as_view({"get": "list"}), name="events"),
    path("introspect", IntrospectViewSet.as_view({"post": "introspect"}), name="introspect"),
]

urlpatterns = [
    path("server/", include(_server)),
    path("auth/identity-token", IdentityTokenViewSet.as_view({"post": "create"}), name="identity-token"),
]
