"""What `migrate` does to the groups of staff."""

from django.contrib.auth.models import Group, Permission
from django.core.management import call_command


def codenames(group: str) -> set[str]:
    return set(Group.objects.get(name=group).permissions.values_list("codename", flat=True))


def test_an_auditor_may_view_new_models_and_gets_nothing_back(db):
    before = codenames("Auditor")
    assert {"view_code", "view_block"} <= before
    Group.objects.get(name="Auditor").permissions.remove(Permission.objects.get(codename="view_code"))
    Permission.objects.get(codename="view_block").delete()  # as if the next release brought the model
    call_command("migrate", verbosity=0)
    assert codenames("Auditor") == before - {"view_code"}


def test_a_group_that_was_removed_comes_back_as_it_was(db):
    before = codenames("Auditor")
    Group.objects.get(name="Auditor").delete()
    call_command("migrate", verbosity=0)
    assert codenames("Auditor") == before
