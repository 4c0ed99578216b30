"""The support pages of accounts; importing this registers them."""

from accounts.admin import people, sign_ins, staff_members
