"""The columns that the search for people reads."""

from typing import Any

from django.db import models

from accounts.text import FOLDED_LENGTH, folded_names


class SearchableNames(models.Model):
    """The names of a user as search compares them: the username, and both names in either order, with a space between them
    and without any.

    Migrations give the columns a plain byte order on PostgreSQL, so that one index serves prefix and order.
    """

    username: Any
    first_name: Any
    last_name: Any

    username_folded = models.CharField(max_length=64, editable=False)
    name_folded = models.CharField(max_length=FOLDED_LENGTH, editable=False)
    family_first_folded = models.CharField(max_length=FOLDED_LENGTH, editable=False)
    name_joined = models.CharField(max_length=FOLDED_LENGTH, editable=False)
    family_first_joined = models.CharField(max_length=FOLDED_LENGTH, editable=False)

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Updates the search columns when a name changes."""
        changed = kwargs.get("update_fields")
        if changed is None or not {"username", "first_name", "last_name"}.isdisjoint(changed):
            folded = folded_names(self.username, self.first_name, self.last_name)
            vars(self).update(folded)
            kwargs["update_fields"] = changed and {*changed, *folded}
        super().save(*args, **kwargs)
