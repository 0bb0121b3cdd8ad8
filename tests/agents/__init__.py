"""Tests of the agents' room: real processes (the fake agent), our manager, a sink that writes down what it is told."""
