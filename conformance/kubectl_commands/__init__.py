"""The commands of `k-kubectl.json`, each run on the embedded server and on a real one."""
