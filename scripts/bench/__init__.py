"""`make bench`: how fast the bridge is, each figure beside a baseline that was measured in the same minute."""
