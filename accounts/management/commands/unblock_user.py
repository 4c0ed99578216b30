from accounts.management.user_commands import UserCommand
from accounts.services import account_status


class Command(UserCommand):
    help = "Unblock an account. Sessions that ended stay ended."
    service = staticmethod(account_status.unblock)
    preview = staticmethod(lambda user, options: {"blocked": False})
