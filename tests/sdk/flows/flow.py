"""A flow through the generated client: sign in, start a conversation, send, list, and read an error by its code."""

import os

from parley_client import AuthenticatedClient, Client
from parley_client.api.auth import auth_login
from parley_client.api.messages import (
    messages_get_conversation,
    messages_list,
    messages_send,
    messages_start_conversation,
)
from parley_client.models import (
    ConversationResponse,
    ErrorResponse,
    LoginRequest,
    MessageResponse,
    MessagesResponse,
    SendMessageRequest,
    SignInResponse,
    StartConversationRequest,
)

base = os.environ["BASE"]
credentials = LoginRequest(email=os.environ["EMAIL"], password=os.environ["PASSWORD"])
login = auth_login.sync(client=Client(base_url=base), body=credentials)
assert isinstance(login, SignInResponse), login
api = AuthenticatedClient(base_url=base, token=login.token)
started = messages_start_conversation.sync(client=api, body=StartConversationRequest(user_id=int(os.environ["OTHER"])))
assert isinstance(started, ConversationResponse), started
chat = started.conversation.id
sent = messages_send.sync(chat, client=api, body=SendMessageRequest(body="typed", client_id="typed-python"))
assert isinstance(sent, MessageResponse), sent
listed = messages_list.sync(chat, client=api, limit=1)
assert isinstance(listed, MessagesResponse), listed
assert listed.messages[0].id == sent.message.id
refused = messages_get_conversation.sync(999_999, client=api)
assert isinstance(refused, ErrorResponse), refused
assert refused.error == "conversation_not_found"
print("done")
