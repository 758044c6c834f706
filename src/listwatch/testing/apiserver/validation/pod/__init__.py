"""The checks of what is in a pod, and in a template of one."""
