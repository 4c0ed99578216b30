"""Every request that mails a code counts against the limit of mails to its address."""

import secrets

from accounts.sign_in import action_tokens
from core.api import ratelimits
from tests.accounts.steps import action_token, enable_two_step, send_second_step
from tests.client import ApiClient
from tests.factories import make_user, sign_in

AUTH = "/api/v1/auth"


def ask_for_codes(settings, mailoutbox, email, *, used_up):
    """Asks in every way for codes to three addresses: the shapes of the answers, and how many mails left."""
    settings.RATELIMIT_ENABLE = False
    user = make_user("Ann", email=email)
    owner = ApiClient(sign_in(user)[1])
    headers = {"X-Action-Token": action_token(owner, user, "change_email")}
    enable_two_step(owner, user)
    waiting = send_second_step(user)
    new, free = f"new-{email}", f"free-{email}"
    settings.RATELIMIT_CACHE_PREFIX = secrets.token_hex(8)
    settings.RATELIMIT_ENABLE = True
    for scope in ("code_mails_known", "code_mails_unknown") if used_up else ():
        assert all(ratelimits.allows(scope, address) for address in (email, new, free) for _ in range(10))
    mailoutbox.clear()
    sign_up = {"email": new, "password": "another horse 9", "first_name": "New", "last_name": "Example"}
    answers = [
        ApiClient().raw("POST", f"{AUTH}/signup", sign_up),
        ApiClient().raw("POST", f"{AUTH}/resend-otp", {"email": new}),
        ApiClient().raw("POST", f"{AUTH}/forgot-password", {"email": email}),
        ApiClient(waiting.token).raw("POST", f"{AUTH}/resend-two-step"),
        owner.raw("POST", f"{AUTH}/change-email", {"email": free}, headers=headers),
        *(owner.raw("POST", f"{AUTH}/action-challenge", {"action": action}) for action in action_tokens.Action),
    ]
    return [(answer.status_code, sorted(answer.json())) for answer in answers], len(mailoutbox)


def test_beyond_the_limit_no_code_leaves_and_the_answers_stay(db, settings, mailoutbox):
    settings.ACCOUNTS_RATES = {"action_challenge": (100, 60, "allow")}
    answers, mailed = ask_for_codes(settings, mailoutbox, "ann@example.com", used_up=False)
    assert [status for status, _ in answers] == [201] + [200] * (4 + len(action_tokens.Action))
    assert mailed == len(answers)
    assert ask_for_codes(settings, mailoutbox, "ben@example.com", used_up=True) == (answers, 0)


def test_a_challenge_beyond_the_limit_leaves_the_code_before_it_in_force(db, settings, mailoutbox):
    user = make_user("Ann")
    session, _ = sign_in(user)
    settings.RATELIMIT_ENABLE = False
    action_tokens.challenge(user=user, session=session, action="change_email")
    code = next(word for word in mailoutbox[-1].body.split() if word.strip(".").isdigit()).strip(".")
    settings.RATELIMIT_CACHE_PREFIX = secrets.token_hex(8)
    settings.RATELIMIT_ENABLE = True
    for _ in range(10):
        assert ratelimits.allows("code_mails_known", user.email)
    token = action_tokens.challenge(user=user, session=session, action="change_email")
    assert len(mailoutbox) == 1
    assert action_tokens.verify(user=user, session=session, challenge_token=token, code=code, network="127.0.0.1")
