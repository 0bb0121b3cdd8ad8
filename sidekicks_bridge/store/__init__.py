"""What is kept: SQLite for what happens, TinyDB for preferences; the only room that knows either."""
