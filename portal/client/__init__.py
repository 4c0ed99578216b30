"""The web client: its page, its catalogs and their translations."""
