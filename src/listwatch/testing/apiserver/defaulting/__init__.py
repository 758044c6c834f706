"""What the server fills in where a client says nothing."""
