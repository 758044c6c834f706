"""What must hold whatever happens: each property of a mirror is one function, named after it, that
judges a `History`.

The sentences are those of the contract's `properties.md`, by number. Not here, since there is
nothing yet that they are about: 10 (late handlers), 11 (synced means handled) and 22 (handlers are
islands), of the informer; 24 (queue); 27 (partition). 29 (fake equals real) is proved by running
one suite on two servers. Of 17 the spreading of 1,000 reflectors, and of 25 the peak while a large
set is replaced, are measured elsewhere: a run has one or two mirrors of few objects.
"""

from . import contents, events, liveness, load, replacing, waiting  # noqa: F401  # they register
from .registry import PROPERTIES, Objection, Property, judge

__all__ = ["PROPERTIES", "Objection", "Property", "judge"]
