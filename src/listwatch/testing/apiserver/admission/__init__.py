"""What a server looks at and adds when objects are written, because of other objects.

`admission.py` says when what is done; each other module is one of the plugins that a kube-apiserver
has by default.
"""
