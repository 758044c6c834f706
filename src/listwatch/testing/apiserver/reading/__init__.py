"""GET and LIST: which state is read, which objects of it, and in which form."""
