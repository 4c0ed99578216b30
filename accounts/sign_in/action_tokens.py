"""Step-up for sensitive actions: a challenge, its mailed code, and a token that allows one action once."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import ActionTokenInvalid, ActionTokenRequired, InvalidOtp
from accounts.models import Action, OneTimeToken, Session, User
from accounts.sign_in import codes, sessions
from core.database.transactions import unit_of_work
from core.network import network_of


def _words(name: str) -> tuple[str, ...]:
    return tuple(sorted(name.strip().lower().replace("-", "_").replace(" ", "_").split("_")))


_BY_WORDS = {_words(action): action for action in Action} | {_words("regenerate_recovery_codes"): Action.RECOVERY_CODES}


def named(name: str) -> Action:
    """The action of this name; dashes, case and the order of words are ignored. ValidationError (`action`)."""
    known = _BY_WORDS.get(_words(name))
    if known is None:
        raise ValidationError({"action": [_("There is no such action.")]})
    return known


def challenge(*, user: User, session: Session, action: Action) -> str:
    """Returns a challenge token and mails its code, with a sentence that describes the action.

    Beyond the limit of mails to the address nothing is sent, and the answer is the same. TokenRevoked when the session has
    just ended.
    """
    may_be_sent = codes.may_be_mailed(address=user.email, asked_for=user, network=network_of(session.ip))
    with unit_of_work():
        # Locked, because this session may just have ended, and the address may have changed.
        user = User.objects.lock_active(user.id)
        sessions.lock_live(session_id=session.id)
        if may_be_sent:
            codes.send(user=user, purpose=purpose_of(action), mail=purpose_of(action))
        return OneTimeToken.objects.issue(kind=OneTimeToken.Kind.CHALLENGE, user=user, session=session, action=action)


def verify(*, user: User, session: Session, challenge_token: str, code: str, network: str) -> str:
    """Returns the action token for a challenge of the same session. InvalidOtp, TokenRevoked."""
    pending = OneTimeToken.objects.of(challenge_token, OneTimeToken.Kind.CHALLENGE, user=user, session=session)
    if pending is None or not pending.count_try():
        raise InvalidOtp
    purpose = purpose_of(pending.action)
    checked = codes.check(user=user, purpose=purpose, address=user.email, text=code, network=network)
    with unit_of_work():
        User.objects.lock_active(user.id)
        sessions.lock_live(session_id=session.id)
        if not pending.consume():
            raise InvalidOtp
        codes.consume(checked)
        return OneTimeToken.objects.issue(
            kind=OneTimeToken.Kind.ACTION, user=user, session=session, action=pending.action
        )


def verify_action_token(*, user: User, session: Session, action: Action, token: str) -> OneTimeToken:
    """Returns the row of a valid action token without consuming it.

    ActionTokenRequired without a token; ActionTokenInvalid for one of another user, session or
    action, for a consumed or expired one, and for one with too many wrong passwords.
    """
    if not token:
        raise ActionTokenRequired
    pending = OneTimeToken.objects.of(token, OneTimeToken.Kind.ACTION, user=user, session=session, action=action)
    if pending is None or not pending.is_live():
        raise ActionTokenInvalid
    return pending


def count_try(action_token: OneTimeToken) -> None:
    """Counts a try before a password is compared: after a few wrong ones the token is invalid."""
    if not action_token.count_try():
        raise ActionTokenInvalid


def consume(action_token: OneTimeToken) -> None:
    """Consumes the token inside the caller's unit of work: a rollback restores it."""
    if not action_token.consume():
        raise ActionTokenInvalid


def purpose_of(action: str) -> str:
    """The purpose of the code for an action, and the kind of the mail that it is in."""
    return f"action:{action}"
