"""Languages by file name, and what a definition looks like in each: enough for outlines and for ranking.

Owns tables and line patterns only. The patterns are applied to single, short lines, so that no file can make
them slow.
"""

from __future__ import annotations

import re
from functools import lru_cache

MAX_LINE = 300  # characters; a longer line is data or minified and defines nothing for a reader

_ENDINGS = {
    "bash": "bash sh zsh",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp",
    "csharp": "cs",
    "css": "css",
    "go": "go",
    "html": "htm html",
    "ini": "cfg ini",
    "java": "java",
    "javascript": "cjs js mjs",
    "json": "json jsonc",
    "jsx": "jsx",
    "kotlin": "kt kts",
    "lua": "lua",
    "markdown": "markdown md",
    "php": "php",
    "python": "py pyi",
    "rst": "rst",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "mts ts",
    "vim": "vim",
    "vue": "vue",
    "xml": "xml",
    "yaml": "yaml yml",
    "zig": "zig",
}
_FENCE_BY_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}
_PROSE_ENDS = (".md", ".markdown", ".rst", ".txt", ".adoc", ".org")
_PROSE_NAMES = frozenset({"readme", "changelog", "changes", "news", "license", "copying", "authors", "contributing"})
_FENCE_BY_NAME = {"Makefile": "makefile", "Dockerfile": "dockerfile", "Rakefile": "ruby", "Gemfile": "ruby"}

_MODIFIERS = (
    r"(?:(?:public|protected|private|internal|static|final|abstract|sealed|synchronized|native|default|async|override"
    r"|virtual|readonly|partial|open|data|suspend|inline|const|unsafe|extern)\s+)"
)
_CONTROL = r"(?!(?:if|for|while|switch|catch|function|return|else|do|try|with|super|new|await|throw|case)\b)"
_JAVASCRIPT = (
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function\b\s*\*?\s*([\w$]+)",
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:class|interface|namespace)\s+([\w$]+)",
    r"\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?enum\s+([\w$]+)",
    r"\s*(?:export\s+)?(?:declare\s+)?type\s+([\w$]+)\s*[=<]",
    r"\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\(.*=>|[\w$]+\s*=>)",
    r"\s+(?:(?:public|private|protected|static|async|readonly|get|set|override|\*)\s+)*"
    + _CONTROL
    + r"(#?[\w$]+)\s*\([^;]*\)\s*(?::[^{;]+)?\{\s*$",
)
_C = (
    r"\s*(?:typedef\s+)?(?:struct|union|enum(?:\s+class)?|class|namespace)\s+(\w+)[^;()]*$",
    r"#\s*define\s+(\w+)",
    _CONTROL + r"[A-Za-z_][\w\s*&:<>,~]*?[\s*&]([A-Za-z_~][\w:~]*)\s*\([^;]*$",
)
_TYPES_AND_METHODS = (
    r"\s*"
    + _MODIFIERS
    + r"*(?:class|@?interface|enum|record|struct|namespace|object|trait|protocol|extension)\s+(\w+)",
    r"\s*" + _MODIFIERS + r"*(?:fun|func|def)\s+(?:<[^>]*>\s*)?([\w.]+)",
    r"\s+" + _MODIFIERS + r"+" + _CONTROL + r"(?:[\w<>\[\],.?]+\s+)?(\w+)\s*\([^;]*$",
)
_RUST_MODIFIERS = r"(?:(?:default|const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*"
_RUST = (
    rf"\s*(?:pub(?:\([^)]*\))?\s+)?{_RUST_MODIFIERS}(?:fn|struct|enum|trait|union|mod|type|static|const)\s+(\w+)",
    r"\s*(?:unsafe\s+)?impl\b[^{;]*?(\w+)\s*(?:<[^{]*)?(?:\{|where|$)",
    r"\s*macro_rules!\s*(\w+)",
)
_SQL = (
    r"\s*(?i:create\s+(?:or\s+replace\s+)?(?:table|view|index|function|procedure|trigger)\s+"
    r"(?:if\s+not\s+exists\s+)?)([\w.\"]+)"
)
_PATTERNS: dict[str, tuple[str, ...]] = {
    "python": (r"\s*(?:async\s+)?(?:def|class)\s+(\w+)", r"([A-Z][A-Z0-9_]{2,})\s*(?::[^=]+)?=[^=]"),
    "javascript": _JAVASCRIPT, "typescript": _JAVASCRIPT,
    "jsx": _JAVASCRIPT, "tsx": _JAVASCRIPT, "vue": _JAVASCRIPT,
    "go": (r"func\s+(?:\([^)]*\)\s*)?(\w+)", r"(?:type|var|const)\s+(\w+)"),
    "rust": _RUST,
    "lua": (r"\s*(?:local\s+)?function\s+([\w.:]+)", r"\s*(?:local\s+)?([\w.]+)\s*=\s*function\b"),
    "c": _C, "cpp": _C,
    "java": _TYPES_AND_METHODS, "kotlin": _TYPES_AND_METHODS, "csharp": _TYPES_AND_METHODS,
    "scala": _TYPES_AND_METHODS, "swift": _TYPES_AND_METHODS,
    "php": (r"\s*" + _MODIFIERS + r"*(?:function|class|interface|trait|enum)\s+&?(\w+)",),
    "ruby": (r"\s*(?:def|class|module)\s+([\w.:?!=]+)",),
    "bash": (r"\s*(?:function\s+)?([\w-]+)\s*\(\)", r"\s*function\s+([\w-]+)"),
    "vim": (r"\s*fu(?:nction)?!?\s+([\w:#.]+)",),
    "markdown": (r"#{1,6}\s+(.+?)\s*#*\s*$",),
    "toml": (r"\[+\s*([^\]]+?)\s*\]+",), "ini": (r"\[\s*([^\]]+?)\s*\]",),
    "makefile": (r"([\w./-]+)\s*:(?![=:])",),
    "sql": (_SQL,),
}  # fmt: skip


def language_of(path: str) -> str:
    """Return the name that marks a file's language after a code fence; empty if it is not known."""
    name = path.rpartition("/")[2]
    return _FENCE_BY_NAME.get(name) or _FENCE_BY_ENDING.get(name.rpartition(".")[2].lower(), "")


def is_prose(path: str) -> bool:
    """Whether a file is written for people: documents, and files without an ending such as README."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(_PROSE_ENDS) or name in _PROSE_NAMES


def defined_name(line: str, language: str) -> str | None:
    """Return the name that a line defines in a language, or None."""
    pattern = _pattern(language)
    if pattern is None or not line or len(line) > MAX_LINE:
        return None
    match = pattern.match(line)
    return next((name for name in match.groups() if name), None) if match else None


def has_outline(language: str) -> bool:
    """Whether definitions are known for a language."""
    return language in _PATTERNS


@lru_cache
def _pattern(language: str) -> re.Pattern[str] | None:
    alternatives = _PATTERNS.get(language)
    return re.compile("|".join(f"(?:{one})" for one in alternatives)) if alternatives else None
