"""The command line: each verb imports only what it needs."""
