"""jitwise: a just-in-time compiler for numerical Python."""
