"""What a table shows of an object of a built-in type: `3/3`, `CrashLoopBackOff`, `5m`.

The functions take an object in the form of its JSON, which may lack anything, and the present. The
embedded server makes its Tables of them, and the command those for servers that make none.
"""
