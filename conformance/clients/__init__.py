"""Other people's clients, each as its package comes, on the embedded server and on a real one."""
