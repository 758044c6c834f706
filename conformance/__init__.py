"""A real kube-apiserver and etcd on loopback, and the tests that run against them.

``docs/conformance.md`` tells how to run them. Nothing here is part of the installed package.
"""
