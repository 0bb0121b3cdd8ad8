"""The quick half of JSON says what the standard library says."""

from __future__ import annotations

import json
import sys
from importlib import reload
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekicks_bridge import quick_json

ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(VALUES)
def test_it_writes_and_reads_as_json_does(value: Any) -> None:
    written = quick_json.dumps(value, sort_keys=True)
    assert written == json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    assert quick_json.loads(written) == value
    assert quick_json.loads(json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")) == value


@pytest.mark.parametrize("text", [b"", b" ", b"{", b'{"a":1}x', b"nul", b"[1,]", b'"\xff"', b'"a\nb"'])
def test_what_is_no_json_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        quick_json.loads(text)


def test_what_cannot_be_written_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="object"):
        quick_json.dumps({"a": object()})


def test_another_python_has_json_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    try:
        reload(quick_json)
        assert quick_json.dumps({"b": "ü", "a": [1]}, sort_keys=True) == b'{"a":[1],"b":"\\u00fc"}'
        assert quick_json.loads(b' {"a": [1]} ') == {"a": [1]}
    finally:
        monkeypatch.undo()
        reload(quick_json)
