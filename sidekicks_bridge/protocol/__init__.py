"""The wire: what clients and the bridge say to each other, as msgspec Structs.

``types`` holds the data, ``methods`` the requests, ``events`` the notifications, ``errors`` the error codes,
``reducer`` the reference reducer, ``codegen`` what generates the schema, documentation and client types from them.
This room does no I/O, reads no clock and starts no task.
"""

PROTOCOL_VERSION = 1
