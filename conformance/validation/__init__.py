"""What servers refuse of built-in objects, and in which words.

``cases/*.yaml`` has valid objects and changes that make them invalid; ``answers/*.json`` what a
real kube-apiserver says to each, as ``python -m conformance.validation.record`` writes it down. The
tests ask both servers and compare with that; ``python -m conformance.validation.explore`` asks both
what nobody has written a case for.
"""
