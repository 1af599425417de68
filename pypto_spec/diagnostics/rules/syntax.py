"""PS1: syntax and schema."""

from __future__ import annotations

from pypto_spec.diagnostics.model import Severity
from pypto_spec.diagnostics.registry import rule

UNKNOWN_KEY = rule("PS1001", "unknown-key", Severity.ERROR, "a mapping has a key the language does not know")
INVALID_YAML = rule("PS1002", "invalid-yaml", Severity.ERROR, "the text is not YAML")
INVALID_TOML = rule("PS1003", "invalid-toml", Severity.ERROR, "the text is not TOML")
DUPLICATE_KEY = rule("PS1004", "duplicate-key", Severity.ERROR, "a mapping has the same key twice")
TAB = rule("PS1005", "tab", Severity.ERROR, "a tab stands where only blanks may")
CYCLIC_ANCHOR = rule("PS1006", "cyclic-anchor", Severity.ERROR, "an anchored value contains itself")
UNKNOWN_TAG = rule("PS1007", "unknown-tag", Severity.ERROR, "a YAML tag the language does not know")
SEVERAL_DOCUMENTS = rule("PS1008", "several-documents", Severity.ERROR, "a file holds more than one document")
LIMIT = rule("PS1009", "limit-exceeded", Severity.ERROR, "the text is larger or deeper than the loader accepts")
ENCODING = rule("PS1010", "bad-character", Severity.ERROR, "bytes that are not UTF-8, or a character YAML forbids")
UNQUOTED = rule(
    "PS1011", "unquoted-expression", Severity.ERROR, "YAML reads a piece of an expression as its own syntax"
)
UNDEFINED_ALIAS = rule("PS1012", "undefined-alias", Severity.ERROR, "an alias whose anchor is not defined before it")
BAD_KEY = rule("PS1013", "bad-key", Severity.ERROR, "a key that is not a word, or a merge of something not a mapping")
WRONG_TYPE = rule("PS1014", "wrong-type", Severity.ERROR, "a value has another type than its field takes")
MISSING_KEY = rule("PS1015", "missing-key", Severity.ERROR, "a required key is missing")
UNKNOWN_WORD = rule("PS1016", "unknown-word", Severity.ERROR, "a word the field does not know")
FORMULA = rule("PS1017", "formula-syntax", Severity.ERROR, "a formula breaks the grammar of formulas")
NUMBER_RANGE = rule("PS1018", "number-range", Severity.ERROR, "an integer does not fit in 64 bits")
OUT_OF_RANGE = rule("PS1019", "out-of-range", Severity.ERROR, "a number or length outside what its field allows")
ARITHMETIC = rule("PS1020", "bad-arithmetic", Severity.ERROR, "a constant expression has no value")
KEYWORD_COUNT = rule("PS1021", "one-keyword", Severity.ERROR, "a statement needs exactly one keyword")
BROKEN_DUMP = rule("PS1029", "broken-dump", Severity.ERROR, "a dump says what no pass leaves behind")
CONFLICTING_KEYS = rule("PS1022", "conflicting-keys", Severity.ERROR, "keys that exclude each other")
DEBUG_TEXT = rule("PS1060", "debug-text", Severity.ERROR, "a text that a kernel is to print cannot be printed so")
CANNOT_DISABLE = rule("PS1023", "cannot-disable", Severity.WARNING, "an error's code among those to switch off")
CANNOT_INSIST = rule("PS1024", "cannot-insist", Severity.WARNING, "an `error` beside a loop that changes nothing there")
NO_NULL = rule("PS1061", "no-null-in-toml", Severity.ERROR, "a value left empty, for which TOML has no form")
