//! A trial's cgroup, on a tree that only looks like the kernel's.
use super::*;
