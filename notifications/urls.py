"""Section 4.3 of the contract, and what api.md adds to it."""

from django.urls import path

from notifications.viewsets import EventViewSet, FeedViewSet, PreferencesViewSet, PushTokenViewSet, TestPushViewSet

urlpatterns = [
    path("notifications", FeedViewSet.as_view({"get": "list"})),
    path("notifications/unread-count", FeedViewSet.as_view({"get": "unread_count"})),
    path("notifications/read-all", FeedViewSet.as_view({"post": "read_all"})),
    path(
        "notifications/preferences",
        PreferencesViewSet.as_view({"get": "show", "put": "replace", "patch": "change"}),
    ),
    path("notifications/test-push", TestPushViewSet.as_view({"post": "send"})),
    path("notifications/events", EventViewSet.as_view({"post": "post"})),
    path("notifications/<str:notification_id>/read", FeedViewSet.as_view({"post": "read"})),
    path("notifications/<str:notification_id>", FeedViewSet.as_view({"delete": "remove"})),
    path("profile/push-token", PushTokenViewSet.as_view({"post": "register", "delete": "remove"})),
]
