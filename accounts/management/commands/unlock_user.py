from accounts.management.user_commands import UserCommand
from accounts.services import account_status


class Command(UserCommand):
    help = "Reset the count of wrong passwords, so that the user can sign in immediately."
    service = staticmethod(account_status.unlock)
    preview = staticmethod(lambda user, options: {"locked": False})
