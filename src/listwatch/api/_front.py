"""Who an object is, read from the front of bytes that are laid out as servers write typed objects:
in the order of Go's structs, so that all that routing needs comes first.

Every member up to there is matched, so that what is found is the object's own. (Custom resources
have their keys in alphabetical order, names behind annotations and managedFields: passing over
those by a regular expression takes as long as the decoder takes for the whole object.)
"""

from __future__ import annotations

import re

__all__ = ["front_of"]

_TEXT = rb'([^"\\\x00-\x1f\x80-\xff]++)'  # what names an object needs no escapes, and is ASCII
_ANY = rb'"[^"\\\x00-\x1f]*+"'

front_of = re.compile(
    rb'\{"kind":"' + _TEXT + rb'","apiVersion":"' + _TEXT + rb'","metadata":\{"name":"' + _TEXT
    + rb'",(?:"generateName":' + _ANY + rb',)?+(?:"namespace":"' + _TEXT + rb'",)?+'
    + rb'(?:"selfLink":' + _ANY + rb',)?+"uid":"' + _TEXT + rb'","resourceVersion":"' + _TEXT
    + rb'"[,}]'
).match  # fmt: skip
"""Matches with kind, apiVersion, name, namespace (None where there is none), uid and RV."""
