"""Routes of messaging, in the order of the contract's table."""

from django.urls import include, path

from messaging.viewsets import (
    ConversationViewSet,
    ImageMessageViewSet,
    MessageViewSet,
    PeopleViewSet,
    ReactionViewSet,
    ReportViewSet,
)

app_name = "messaging"

CONVERSATION = "conversations/<str:conversation_id>"
MESSAGE = "messages/<str:message_id>"

_messages = [
    path("users", PeopleViewSet.as_view({"get": "search"}), name="users"),
    path("users/<str:user_id>", PeopleViewSet.as_view({"get": "retrieve"}), name="user"),
    path("conversations", ConversationViewSet.as_view({"get": "list", "post": "start"}), name="conversations"),
    path(CONVERSATION, ConversationViewSet.as_view({"get": "retrieve"}), name="conversation"),
    path(f"{CONVERSATION}/messages", MessageViewSet.as_view({"get": "list", "post": "create"}), name="messages"),
    path(f"{CONVERSATION}/media", ImageMessageViewSet.as_view({"post": "create"}), name="image-messages"),
    path(f"{CONVERSATION}/read", ConversationViewSet.as_view({"post": "read"}), name="read"),
    path(f"{CONVERSATION}/clear", ConversationViewSet.as_view({"post": "clear"}), name="clear"),
    path(f"{CONVERSATION}/search", MessageViewSet.as_view({"get": "search"}), name="search"),
    path("search", MessageViewSet.as_view({"get": "search_everywhere"}), name="search-everywhere"),
    path(MESSAGE, MessageViewSet.as_view({"patch": "partial_update", "delete": "destroy"}), name="message"),
    path(f"{MESSAGE}/reactions", ReactionViewSet.as_view({"post": "create", "delete": "destroy"}), name="reactions"),
    path(f"{MESSAGE}/report", ReportViewSet.as_view({"post": "create"}), name="report"),
]

urlpatterns = [path("messages/", include(_messages))]
