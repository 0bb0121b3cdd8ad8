"""The ACP edge: processes, sessions and their translation; knows no channels and never lets ACP types out."""
