"""The local FCM refuses a push that a phone would not show, or would show in silence: each field is missing or wrong once."""

import copy
import time
from dataclasses import replace

import pytest

from notifications.channels.fcm_messages import fcm_messages
from notifications.channels.messages import PushMessage, Style
from portal.development.fcm.rules import check_message

pytestmark = pytest.mark.once

SHOWN = PushMessage(
    "t", "ios", Style.SHOWN, {"type": "message"}, ttl=86_400, is_urgent=True, badge=3, title="Ann", body="3 new messages",
    tag="message:9", collapse_key="message", label="message",
)  # fmt: skip
CALL = PushMessage("t", "ios", Style.BACKGROUND, {"type": "incoming_call"}, ttl=45, is_urgent=True, label="call")
READ = PushMessage("t", "ios", Style.READ, {"type": "read", "conversation_id": "9"}, ttl=86_400, badge=0, label="read")
GONE = "(missing)"


@pytest.mark.parametrize("message", [SHOWN, CALL, READ], ids=lambda message: message.style)
@pytest.mark.parametrize("platform", ["ios", "android", "web"])
def test_our_own_pass(message, platform):
    messages = fcm_messages(replace(message, platform=platform))
    assert [check_message(each) for each in messages] == [None] * len(messages)
    assert len(messages) == (2 if message is READ and platform == "ios" else 1)


def test_what_iphones_get_of_what_was_read():
    alone, background = fcm_messages(READ)
    assert alone["apns"]["payload"] == {"aps": {"badge": 0}} and alone["data"] == {}
    assert alone["apns"]["headers"]["apns-push-type"] == "alert" and "notification" not in alone
    assert background["apns"]["payload"] == {"aps": {"content-available": 1}} and background["data"] == READ.data
    assert background["apns"]["headers"]["apns-push-type"] == "background"


APS, HEADERS, ANDROID = ("apns", "payload", "aps"), ("apns", "headers"), ("android",)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*APS, "sound"), GONE), ((*APS, "sound"), ""), ((*APS, "badge"), GONE), ((*APS, "badge"), -1), ((*APS, "badge"), "3"),
        ((*APS, "badge"), True), ((*APS, "badge"), 4), ((*APS, "content-available"), 1), (("apns",), GONE), (APS, GONE),
        ((*HEADERS, "apns-push-type"), GONE), ((*HEADERS, "apns-push-type"), "background"), ((*HEADERS, "apns-push-type"), "voip"),
        ((*HEADERS, "apns-priority"), GONE), ((*HEADERS, "apns-priority"), "high"), ((*HEADERS, "apns-priority"), 10),
        ((*HEADERS, "apns-expiration"), GONE), ((*HEADERS, "apns-expiration"), "0"), ((*HEADERS, "apns-expiration"), "86400"),
        ((*HEADERS, "apns-expiration"), "soon"), ((*HEADERS, "apns-expiration"), str(int(time.time()) + 3600)),
        ((*ANDROID, "ttl"), GONE), ((*ANDROID, "ttl"), "60s"), ((*ANDROID, "collapse_key"), GONE),
        ((*ANDROID, "notification"), GONE), ((*ANDROID, "notification", "channel_id"), GONE),
        ((*ANDROID, "notification", "notification_count"), GONE), ((*ANDROID, "notification", "notification_count"), 2),
        (("notification",), GONE), (("notification", "title"), ""), (("notification", "body"), GONE),
    ],
    ids=str,
)  # fmt: skip
def test_a_shown_push_is_whole(path, value):
    refused(fcm_messages(SHOWN)[0], path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*APS, "sound"), "default"), ((*APS, "badge"), 1), ((*APS, "badge"), 0), ((*APS, "alert"), {"title": "x"}),
        ((*APS, "content-available"), GONE), ((*APS, "content-available"), 0), ((*APS, "content-available"), "1"),
        ((*HEADERS, "apns-push-type"), "alert"), ((*HEADERS, "apns-priority"), "10"), ((*HEADERS, "apns-priority"), GONE),
        ((*HEADERS, "apns-expiration"), GONE), (("notification",), {"title": "Ann", "body": "calls"}),
        ((*ANDROID, "notification"), {"tag": "x"}), ((*ANDROID, "ttl"), GONE), ((*ANDROID, "ttl"), "3600s"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("message", [CALL, READ], ids=lambda message: message.style)
def test_a_background_push_is_silent(message, path, value):
    refused(fcm_messages(message)[-1], path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [((*APS, "sound"), "default"), ((*APS, "badge"), GONE), ((*APS, "content-available"), 1), ((*HEADERS, "apns-push-type"), GONE)],
    ids=str,
)  # fmt: skip
def test_a_number_alone_is_silent(path, value):
    refused(fcm_messages(READ)[0], path, value)


def refused(message, path, value):
    changed = copy.deepcopy(message)
    *folders, name = path
    inner = changed
    for folder in folders:
        inner = inner[folder]
    if value is GONE:
        del inner[name]
    else:
        inner[name] = value
    assert check_message(message) is None
    answer = check_message(changed)
    assert answer is not None and answer[0] == 400 and b"INVALID_ARGUMENT" in answer[2]
