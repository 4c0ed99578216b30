"""The pages besides the admin: documentation, web client, development pages."""
