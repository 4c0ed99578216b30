"""The second step of a sign-in: second password, mailed code, or recovery code."""

from accounts.conf import conf
from accounts.models import PendingToken, User
from accounts.services import pending_tokens


def begin(*, user: User) -> str:
    """The `two_step_token` that login gives after the right first password. Several may be pending."""
    return pending_tokens.issue(
        kind=PendingToken.Kind.TWO_STEP, user=user, minutes=conf.TWO_STEP_TOKEN_MINUTES
    )
