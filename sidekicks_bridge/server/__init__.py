"""The LSP face: the only room that knows LSP and pygls."""
