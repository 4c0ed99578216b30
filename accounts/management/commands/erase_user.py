from accounts.management.user_commands import UserCommand
from accounts.services import account_status


class Command(UserCommand):
    help = "Erase an account and all personal data. This cannot be undone."
    service = staticmethod(account_status.erase)
    confirmed = True
    preview = staticmethod(lambda user, options: {"erased": True})
