"""Sensitive actions: a challenge, its mailed code, and a token that opens one action once."""

from accounts import emails
from accounts.conf import conf
from accounts.exceptions import ActionTokenInvalid, ActionTokenRequired, InvalidOtp
from accounts.models import PendingToken, Session, User
from accounts.services import codes, pending_tokens
from accounts.unit_of_work import unit_of_work

CHANGE_PASSWORD = "change_password"
CHANGE_EMAIL = "change_email"
TWO_STEP_ENABLE = "two_step_enable"
TWO_STEP_CHANGE = "two_step_change"
TWO_STEP_DISABLE = "two_step_disable"
RECOVERY_CODES = "recovery_codes"
EXPORT_DATA = "export_data"
DELETE_ACCOUNT = "delete_account"

ACTIONS = (
    CHANGE_PASSWORD,
    CHANGE_EMAIL,
    TWO_STEP_ENABLE,
    TWO_STEP_CHANGE,
    TWO_STEP_DISABLE,
    RECOVERY_CODES,
    EXPORT_DATA,
    DELETE_ACCOUNT,
)


def _words(name: str) -> tuple[str, ...]:
    return tuple(sorted(name.strip().lower().replace("-", "_").replace(" ", "_").split("_")))


_BY_WORDS = {_words(name): name for name in ACTIONS} | {_words("regenerate_recovery_codes"): RECOVERY_CODES}


def action_named(name: str) -> str | None:
    """The action that `name` means (dashes, case and the order of its words are free), or None."""
    return _BY_WORDS.get(_words(name))


def challenge(*, user: User, session: Session, action: str) -> str:
    """A challenge token; the code that answers it is mailed with a sentence about what it will do."""
    with unit_of_work():
        code = codes.issue(user=user, purpose=_purpose(action), address=user.email)
        emails.send_to(user, f"action:{action}", code=code)
        return pending_tokens.issue(
            kind=PendingToken.Kind.CHALLENGE,
            user=user,
            session=session,
            action=action,
            minutes=conf.CHALLENGE_MINUTES,
        )


def verify(*, user: User, session: Session, challenge_token: str, code: str) -> str:
    """The action token for a challenge of this very session. InvalidOtp for everything else."""
    pending = pending_tokens.find(challenge_token, kind=PendingToken.Kind.CHALLENGE)
    if pending is None or pending.user_id != user.id or pending.session_id != session.id:
        raise InvalidOtp
    if not pending_tokens.count_try(pending, tries=conf.CODE_TRIES):
        raise InvalidOtp
    checked = codes.check(user=user, purpose=_purpose(pending.action), address=user.email, text=code)
    with unit_of_work():
        if not pending_tokens.spend(pending):
            raise InvalidOtp
        codes.consume(checked)
        return pending_tokens.issue(
            kind=PendingToken.Kind.ACTION,
            user=user,
            session=session,
            action=pending.action,
            minutes=conf.ACTION_TOKEN_MINUTES,
        )


def grant(*, user: User, session: Session, action: str, token: str) -> PendingToken:
    """The live permission behind an action token; nothing is used up yet.

    ActionTokenRequired without a token; ActionTokenInvalid for one of another user, session or
    action, for a spent or expired one, and for one that has seen too many wrong passwords.
    """
    if not token:
        raise ActionTokenRequired
    pending = pending_tokens.find(token, kind=PendingToken.Kind.ACTION)
    if (
        pending is None
        or pending.user_id != user.id
        or pending.session_id != session.id
        or pending.action != action
        or not pending_tokens.is_live(pending, tries=conf.ACTION_TOKEN_TRIES)
    ):
        raise ActionTokenInvalid
    return pending


def count_try(granted: PendingToken) -> None:
    """Before a password is compared: a permission allows a few wrong ones, then it is dead."""
    if not pending_tokens.count_try(granted, tries=conf.ACTION_TOKEN_TRIES):
        raise ActionTokenInvalid


def spend(granted: PendingToken) -> None:
    """Uses the permission up, inside the caller's unit of work: a failed action gives it back."""
    if not pending_tokens.spend(granted):
        raise ActionTokenInvalid


def _purpose(action: str) -> str:
    return f"action:{action}"
