"""Words for records: it prints the decisions that were made, and never makes them again."""
