"""What must hold whatever happens: each property is one function, named after it, that judges a
`History`.

The sentences are those of the contract's `properties.md`, by number; numbers from 100 on are the
informer's own. Not here, since there is nothing yet that they are about: 24 (queue) and 27
(partition). 29 (fake equals real) is proved by running one suite on two servers. Of 17 the
spreading of 1,000 reflectors, and of 25 the peak while a large set is replaced, are measured
elsewhere: a run has one or two mirrors of few objects.
"""

from . import (  # noqa: F401  # they register
    contents,
    events,
    handlers,
    liveness,
    load,
    merging,
    replacing,
    waiting,
)
from .registry import PROPERTIES, Objection, Property, judge

__all__ = ["PROPERTIES", "Objection", "Property", "judge"]
