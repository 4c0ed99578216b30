"""Blocks between users."""

from collections.abc import Collection
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.text import row_name


class BlockQuerySet(models.QuerySet["Block"]):
    def between(self, user_id: int, other_ids: Collection[int]) -> Self:
        """Blocks between the user and any of the others, in either direction."""
        made = Q(blocker_id=user_id, blocked_id__in=other_ids)
        return self.filter(made | Q(blocked_id=user_id, blocker_id__in=other_ids))


class Block(models.Model):
    blocker = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="blocks_made",
        verbose_name=_("blocked by"),
        db_index=False,
    )
    blocked = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="blocks_met", verbose_name=_("blocked person")
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    objects = BlockQuerySet.as_manager()

    class Meta:
        verbose_name = _("block")
        verbose_name_plural = _("blocks")
        constraints = [
            models.UniqueConstraint(fields=["blocker", "blocked"], name="block_once"),
            models.CheckConstraint(condition=~Q(blocker=F("blocked")), name="block_not_oneself"),
        ]

    __str__ = row_name


def blocked_between(one: Any, other: Any) -> Q:
    """Block.objects.between inside a query on other rows; each of the two is an id or an OuterRef.

    One EXISTS for each direction, so that each is one look into the unique index.
    """
    return Q(Exists(Block.objects.filter(blocker_id=one, blocked_id=other))) | Q(
        Exists(Block.objects.filter(blocker_id=other, blocked_id=one))
    )
