"""The figures of the admin's index page. Other apps register theirs in AppConfig.ready()."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.services.login_lockout import is_locked

COUNTED_AT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the overview; `path` leads to the list behind it."""

    label: str | Promise
    value: int | str
    path: str = ""


def about(rows: QuerySet) -> int | str:
    """The count, up to ten thousand, so that the overview stays fast on large tables."""
    number = len(rows.order_by().values_list("pk")[: COUNTED_AT_MOST + 1])
    return number if number <= COUNTED_AT_MOST else f"{COUNTED_AT_MOST}+"


Section = Callable[[], Iterable[Figure]]
_sections: list[Section] = []


def add_section(section: Section) -> None:
    """Lets an app add figures to the overview."""
    _sections.append(section)


def overview() -> list[Figure]:
    return [figure for section in (_accounts, *_sections) for figure in section()]


def _accounts() -> Iterable[Figure]:
    now = timezone.now()
    users = "/admin/accounts/user/"
    day = now - timedelta(days=1)
    yield Figure(_("New accounts today"), about(User.objects.filter(created_at__gte=day)), users)
    yield Figure(
        _("Currently locked"),
        about(User.objects.filter(is_locked(now))),
        f"{users}?standing=locked",
    )
    yield Figure(_("Blocked"), about(User.objects.blocked()), f"{users}?standing=blocked")
