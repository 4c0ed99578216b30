"""The OpenAPI document: what drf-spectacular reads from the views, with the texts of docs/reference."""
