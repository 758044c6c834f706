"""What lives in the cluster that the benchmarks look at: pods and widgets, made from a seed."""
