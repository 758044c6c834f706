"""Informers, and who listens to them, on the embedded server and on a real kube-apiserver."""
