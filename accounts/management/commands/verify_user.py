from accounts.management.user_commands import UserCommand
from accounts.services import account_status


class Command(UserCommand):
    help = "Confirm the e-mail address of an account without a code."
    service = staticmethod(account_status.mark_verified)
    preview = staticmethod(lambda user, options: {"is_verified": True, "changed": not user.has_verified_email})
