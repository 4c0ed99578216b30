"""What the support pages are made of: the site, its sign-in, its lists; admin.py files put rows on them."""
