"""A mirror of a real kube-apiserver, while servers are killed, turned back, and hang.

``python -m conformance.mirror`` shows it to whoever wants to watch.
"""
