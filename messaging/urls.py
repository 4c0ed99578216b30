"""Routes of messaging, in the order of the contract's table."""

from django.urls import path

from messaging.viewsets.conversations import ConversationViewSet, PeopleViewSet
from messaging.viewsets.media import MediaViewSet
from messaging.viewsets.messages import ImageMessageViewSet, MessageViewSet, ReactionViewSet, ReportViewSet

CONVERSATION = "messages/conversations/<str:conversation_id>"
MESSAGE = "messages/messages/<str:message_id>"

urlpatterns = [
    path("messages/users", PeopleViewSet.as_view({"get": "search"})),
    path("messages/conversations", ConversationViewSet.as_view({"get": "list", "post": "start"})),
    path(CONVERSATION, ConversationViewSet.as_view({"get": "retrieve"})),
    path(f"{CONVERSATION}/messages", MessageViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{CONVERSATION}/media", ImageMessageViewSet.as_view({"post": "create"})),
    path(f"{CONVERSATION}/read", ConversationViewSet.as_view({"post": "read"})),
    path(f"{CONVERSATION}/clear", ConversationViewSet.as_view({"post": "clear"})),
    path(f"{CONVERSATION}/search", MessageViewSet.as_view({"get": "search"})),
    path(MESSAGE, MessageViewSet.as_view({"patch": "partial_update", "delete": "destroy"})),
    path(f"{MESSAGE}/reactions", ReactionViewSet.as_view({"post": "create", "delete": "destroy"})),
    path(f"{MESSAGE}/report", ReportViewSet.as_view({"post": "create"})),
    path("media/<str:token>", MediaViewSet.as_view({"get": "full"})),
    path("media/<str:token>/thumb", MediaViewSet.as_view({"get": "thumb"})),
]
