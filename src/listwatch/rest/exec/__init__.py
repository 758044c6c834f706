"""Credentials from a program: the exec plugins of kubeconfigs (N2)."""
