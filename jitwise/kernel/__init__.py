"""The kernel IR: loop nests over memory, without tensors. The second and last IR."""
