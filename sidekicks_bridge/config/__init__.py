"""The configuration file: model, reading with positions, edits that keep comments, watching."""
