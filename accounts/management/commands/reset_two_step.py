from accounts.management.user_commands import UserCommand
from accounts.services import account_status


class Command(UserCommand):
    help = "Turn off two-step verification for a user who lost the second password. The user is notified by mail."
    service = staticmethod(account_status.reset_two_step)
    preview = staticmethod(lambda user, options: {"two_step": False, "changed": user.two_step_enabled})
