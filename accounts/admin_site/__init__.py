"""Building blocks of the admin: the site, its sign-in, lists and actions."""
