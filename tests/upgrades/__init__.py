"""Upgrades: databases of every release, loaded and migrated to today; the code before on the schema after."""
