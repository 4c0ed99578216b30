from accounts.management.user_commands import UserCommand
from accounts.services import account_status


class Command(UserCommand):
    help = "Sign a user out everywhere: sessions, sockets, pushes, trusted devices."
    service = staticmethod(account_status.sign_out_everywhere)
    preview = staticmethod(lambda user, options: {"sessions_ended": user.sessions.not_ended().count()})
