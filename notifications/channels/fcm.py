"""Firebase Cloud Messaging through firebase-admin. Only this module imports it, and only a process that sends loads this one.

The library's own retries are switched off, because they would sleep in the worker's threads for minutes. This module
classifies answers; the worker acts on them.
"""

import functools
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import firebase_admin
import requests
from django.core.exceptions import ImproperlyConfigured
from firebase_admin import messaging
from firebase_admin.exceptions import FirebaseError, InvalidArgumentError
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request
from google.oauth2 import service_account
from requests.adapters import HTTPAdapter

from notifications.channels import (
    Dead,
    DeviceGone,
    Outcome,
    PushChannel,
    RateLimited,
    Retry,
    Sent,
    Unavailable,
    WrongSender,
)
from notifications.channels.fcm_messages import fcm_messages
from notifications.channels.messages import PushMessage
from notifications.conf import conf, loopback_endpoint

# After a refused sign-in the other threads do not try again for a short time.
_REFUSED_SECONDS = 2.0
_SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
_TOKEN_TEXTS = ("not a valid fcm registration token", "invalid registration")


class _Credentials(service_account.Credentials):
    def before_request(self, request: Any, method: str, url: str, headers: Any) -> None:
        """Adds the access token, which `FcmChannel` has requested. The library's own method would also ask Google in
        which regions the account may be used, in a thread of its own."""
        self.apply(headers)


class _Connections(HTTPAdapter):
    """Connections for all threads of the worker, without retries; to `endpoint`, if there is one."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(pool_connections=1, pool_maxsize=conf.PUSH_THREADS)
        self._endpoint = endpoint

    def send(self, request: Any, *args: Any, **options: Any) -> Any:
        if self._endpoint:
            request.url = self._endpoint + urlsplit(request.url).path
            options["proxies"] = {}
        return super().send(request, *args, **options)


class FcmChannel(PushChannel):
    """Thread-safe. ImproperlyConfigured when the credentials or the endpoint cannot be used."""

    def __init__(self) -> None:
        endpoint = loopback_endpoint(conf.FCM_ENDPOINT) if conf.FCM_ENDPOINT else ""
        try:
            self._credential = _Credentials.from_service_account_file(conf.FCM_CREDENTIALS, scopes=[_SCOPE])
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(
                f"PUSH_FCM_CREDENTIALS is not a readable service-account file ({type(error).__name__})."
            ) from error
        options = {"httpTimeout": conf.PUSH_TIMEOUT_SECONDS, "projectId": self._credential.project_id}
        self._app = firebase_admin.initialize_app(self._credential, options, name=f"delivery-{time.monotonic_ns()}")
        # The library has no option for retries or connections, so its private names are used, here only
        # (docs/decisions/delivery.md#0068).
        session = messaging._get_messaging_service(self._app)._client.session
        session.adapters.clear()
        session.mount("https://", _Connections(endpoint))
        self._signing_in = threading.Lock()
        self._refused_at = -_REFUSED_SECONDS
        self._refusal = ""

    def send(self, message: PushMessage, *, dry_run: bool = False) -> Outcome:
        """Hand one push to FCM. Some pushes take two requests. The first failure is the outcome, and a retry sends both
        again, so that one of them may arrive twice."""
        refusal = self._sign_in()
        if refusal:
            return Unavailable(refusal)
        outcome: Outcome = Sent()
        for each in fcm_messages(message):
            outcome = self._send(each, dry_run=dry_run)
            if not isinstance(outcome, Sent):
                break
        return outcome

    def _send(self, message: dict[str, Any], *, dry_run: bool) -> Outcome:
        try:
            prepared = _message(message)
        except (TypeError, ValueError) as error:
            return Dead(f"not a message: {error}")
        try:
            return Sent(messaging.send(prepared, dry_run=dry_run, app=self._app))
        except FirebaseError as error:
            return _classify(error)
        except GoogleAuthError as error:
            return Unavailable(f"signing in to FCM failed ({type(error).__name__})")
        except ValueError as error:
            return Dead(f"not a message: {type(error).__name__}")
        except (KeyError, TypeError):
            return Retry("FCM answered something else than JSON of its own")

    def _sign_in(self) -> str:
        """The reason for a missing access token, or an empty string. One thread requests it, the others wait."""
        if self._credential.valid:
            return ""
        with self._signing_in:
            if self._credential.valid:
                return ""
            if time.monotonic() - self._refused_at < _REFUSED_SECONDS:
                return self._refusal
            request = functools.partial(Request(), timeout=conf.PUSH_TIMEOUT_SECONDS)
            try:
                self._credential.refresh(request)
            except GoogleAuthError as error:
                self._refused_at = time.monotonic()
                self._refusal = f"signing in to FCM failed ({type(error).__name__})"
                return self._refusal
        return ""


def _message(message: dict[str, Any]) -> Any:
    """Converts a message of the v1 API to the library's own classes."""
    android, apns = message["android"], message["apns"]
    aps, on_screen = apns["payload"]["aps"], android.get("notification")
    built = messaging.Message(
        data=message["data"],
        notification=messaging.Notification(**message["notification"]) if "notification" in message else None,
        android=messaging.AndroidConfig(
            collapse_key=android.get("collapse_key"),
            priority=android["priority"],
            ttl=timedelta(seconds=int(android["ttl"].removesuffix("s"))),
            notification=messaging.AndroidNotification(**on_screen) if on_screen else None,
        ),
        apns=messaging.APNSConfig(
            headers=apns["headers"],
            payload=messaging.APNSPayload(
                messaging.Aps(
                    badge=aps.get("badge"),
                    sound=aps.get("sound"),
                    thread_id=aps.get("thread-id"),
                    content_available=bool(aps.get("content-available")),
                )
            ),
        ),
        fcm_options=messaging.FCMOptions(message["fcm_options"]["analytics_label"]),
    )
    # The constructor would warn with every push that `token` is deprecated.
    built.token = message["token"]
    return built


def _classify(error: FirebaseError) -> Outcome:
    """Classifies an error of firebase-admin: it concerns the delivery, its device or the whole channel."""
    response = error.http_response
    status = response.status_code if response is not None else 0
    name = f"{error.code} ({status})" if status else str(error.code)
    if isinstance(error, messaging.UnregisteredError):
        return DeviceGone("UNREGISTERED")
    if isinstance(error, messaging.SenderIdMismatchError):
        return WrongSender("SENDER_ID_MISMATCH")
    if isinstance(error, messaging.ThirdPartyAuthError):
        return Unavailable(f"FCM cannot sign in to the platform's push service ({status})")
    if status in (401, 403):
        return Unavailable(f"FCM refuses our credentials ({name})")
    if status == 404:
        return Unavailable("FCM does not know the project (404)")
    if status == 429 or isinstance(error, messaging.QuotaExceededError):
        return RateLimited(name, after=_retry_after(response))
    if status == 400 or isinstance(error, InvalidArgumentError):
        return DeviceGone("INVALID_ARGUMENT about the token") if _is_about_token(response) else Dead(name)
    if status >= 500:
        return Retry(name, after=_retry_after(response))
    if status >= 400:
        return Dead(name)
    return _network(error)


def _network(error: FirebaseError) -> Outcome:
    cause = error.cause
    if isinstance(cause, requests.exceptions.ConnectTimeout | requests.exceptions.SSLError):
        return Unavailable(f"FCM cannot be reached ({type(cause).__name__})")
    if isinstance(cause, requests.exceptions.ConnectionError) and "establish a new connection" in str(cause):
        return Unavailable("FCM cannot be reached (connection refused)")
    return Retry(type(cause).__name__ if cause is not None else str(error.code))


def _is_about_token(response: Any) -> bool:
    """Whether an error is about the token: FCM says so in a field violation, or only in the message."""
    try:
        problem = response.json()["error"]
        text = str(problem.get("message", "")).casefold()
        violations = [
            violation.get("field")
            for detail in problem.get("details") or []
            for violation in detail.get("fieldViolations") or []
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
    if violations:
        return "message.token" in violations
    return any(phrase in text for phrase in _TOKEN_TEXTS)


def _retry_after(response: Any) -> float | None:
    """The wait in seconds that a Retry-After header asks for, as seconds or as a date."""
    value = response.headers.get("Retry-After", "").strip() if response is not None else ""
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
