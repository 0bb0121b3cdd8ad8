"""The application: the only thing that faces call; protocol Structs in, Structs out."""
