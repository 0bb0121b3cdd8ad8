"""Generates what is derived from the protocol: JSON Schema, reference page, TypeScript and LuaCATS types.

``schema`` turns the Structs and tables into one JSON Schema document; the other modules render that document and know
nothing of Python types, so that all outputs say the same. Rendering is pure; only ``__main__`` touches files.
Run ``python -m sidekicks_bridge.protocol.codegen`` after a change of the protocol.
"""
