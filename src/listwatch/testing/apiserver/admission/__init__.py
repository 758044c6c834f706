"""What a server looks at and adds when objects are written, because of other objects.

`plugins` says when what is done: the plugins that a kube-apiserver has by default. The other
modules have one each, or what several of them look at.
"""
