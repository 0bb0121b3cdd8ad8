"""Mail: agents and peers that write to each other, on the channels' logs."""
