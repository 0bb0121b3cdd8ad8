"""The end-to-end test bed: real bridges with fake agents in a folder of their own, and a client that records."""
