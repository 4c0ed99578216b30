"""No index that another one makes needless: each costs every write of its table."""

import pytest
from django.apps import apps
from django.db import models

OURS = [
    model
    for model in apps.get_models()
    if model._meta.app_label in {"accounts", "messaging", "notifications", "realtime", "integrations"}
]


def leading_fields(model):
    """The first fields of the model's indexes and unique constraints over all rows."""
    indexes = [(index.fields_orders, index.condition) for index in model._meta.indexes]
    first = {orders[0] for orders, condition in indexes if orders and condition is None}
    unique = [one for one in model._meta.constraints if isinstance(one, models.UniqueConstraint)]
    return {name for name, _order in first} | {one.fields[0] for one in unique if one.fields and one.condition is None}


@pytest.mark.once
@pytest.mark.parametrize("model", OURS, ids=lambda model: model._meta.label)
def test_no_index_repeats_the_beginning_of_another(model):
    leading = leading_fields(model)
    assert [field.name for field in model._meta.local_fields if field.db_index and field.name in leading] == []
