"""`id__any=[…]`: like `__in`, for hundreds of whole numbers.

`__in` names every value in the statement, which then takes the driver and PostgreSQL longer than the rows
themselves; here PostgreSQL gets one array. SQLite gets the same values by `__in`.
"""

from typing import Any

from django.db.models import BigAutoField, BigIntegerField
from django.db.models.lookups import In


@BigAutoField.register_lookup
@BigIntegerField.register_lookup
class AnyOf(In):
    lookup_name = "any"

    def get_prep_lookup(self) -> list[int]:
        return list(self.rhs)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if connection.vendor != "postgresql" or not self.rhs:
            return super().as_sql(compiler, connection)
        lhs, params = self.process_lhs(compiler, connection)
        # As text: the driver would turn number after number into bytes.
        return f"{lhs} = ANY(%s::bigint[])", (*params, f"{{{','.join(map(str, self.rhs))}}}")
