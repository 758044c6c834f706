"""What is wrong with an object, in the words of the real server."""
