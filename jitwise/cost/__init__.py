"""What a graph costs: arithmetic, memory traffic, memory."""
