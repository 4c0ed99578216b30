"""The paths of notifications, in the order of the contract's table."""

from django.urls import include, path

from notifications.viewsets import EventViewSet, FeedViewSet, PreferencesViewSet, PushTokenViewSet, TestPushViewSet

app_name = "notifications"

_notifications = [
    path("unread-count", FeedViewSet.as_view({"get": "unread_count"}), name="unread-count"),
    path("read-all", FeedViewSet.as_view({"post": "read_all"}), name="read-all"),
    path(
        "preferences",
        PreferencesViewSet.as_view({"get": "show", "put": "replace", "patch": "change"}),
        name="preferences",
    ),
    path("test-push", TestPushViewSet.as_view({"post": "send"}), name="test-push"),
    path("events", EventViewSet.as_view({"post": "post"}), name="events"),
    path("<str:notification_id>/read", FeedViewSet.as_view({"post": "read"}), name="read"),
    path("<str:notification_id>", FeedViewSet.as_view({"delete": "remove"}), name="notification"),
]

urlpatterns = [
    path("notifications/", include(_notifications)),
    path("notifications", FeedViewSet.as_view({"get": "list"}), name="feed"),
    path("profile/push-token", PushTokenViewSet.as_view({"post": "register", "delete": "remove"}), name="push-token"),
]
