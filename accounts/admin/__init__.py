"""The support pages of accounts; importing this registers them."""

from accounts.admin import people, staff_members
