"""DELETE, and what goes on after it."""
