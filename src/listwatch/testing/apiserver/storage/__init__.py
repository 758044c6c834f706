"""What etcd is to a real server: a log of writes, and the objects that it leads to."""
