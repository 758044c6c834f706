"""POST, PUT and PATCH."""
