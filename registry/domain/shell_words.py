"""One command in POSIX shell quoting as the words that a program would receive; nothing is expanded or run.

`shlex` takes a comment for words, a line's continuation for a character and `;` for a part of a word. A shell does
none of that, and what a shell keeps from a program must not be read as one of its options.
"""

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t\r]+) | (?P<line>\n) | (?P<continued>\\\n) | (?P<operator>[;&|<>()]) | (?P<escaped>\\.)
    | '(?P<single>[^']*)' | "(?P<double>(?:[^"\\]|\\.)*)" | (?P<plain>[^\\'" \t\r\n;&|<>()]+)""",
    re.DOTALL | re.VERBOSE,
)
ASSIGNMENT: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")
"""How a word begins that sets a variable."""

_COMMENT: Final = re.compile(r"[^\n]*")
_ESCAPED_IN_DOUBLE: Final = re.compile(r'\\(?:\n|([$`"\\]))')


def shell_words(text: str) -> tuple[str, ...]:
    """Return the words of the one command in `text`. A following line may go on with further options.

    Raises:
        ValueError: a quote is not closed, or the text is more than one command or holds a redirection.
    """
    words: list[str] = []
    open_word, fresh_line, at = False, True, 0
    while at < len(text):
        token = _token(text, at)
        at = token.end()
        if token.lastgroup in {"blank", "line"}:
            fresh_line = token.lastgroup == "line" or (fresh_line and not open_word)
            open_word = False
        elif token.lastgroup == "plain" and token[0].startswith("#") and not open_word:
            at = _COMMENT.match(text, at).end()  # type: ignore[union-attr]  # it matches everywhere
        elif token.lastgroup != "continued":
            if fresh_line and words and not open_word and not token[0].startswith("-"):
                msg = "it is more than one command: end a line with a backslash where the command goes on"
                raise ValueError(msg)
            words[len(words) - open_word :] = [(words[-1] if open_word else "") + _said(token)]
            open_word, fresh_line = True, False
    return tuple(words)


def _token(text: str, at: int) -> re.Match[str]:
    token = _TOKEN.match(text, at)
    if token is None:
        msg = "it ends with a backslash" if text[at] == "\\" else f"the quote {text[at]} is not closed"
        raise ValueError(msg)
    if token.lastgroup == "operator":
        msg = f"it holds {token[0]!r} outside quotes, so it is more than one command, or redirects"
        raise ValueError(msg)
    return token


def _said(token: re.Match[str]) -> str:
    """Return what a token adds to its word."""
    match token.lastgroup:
        case "single":
            return token["single"]
        case "double":
            return _ESCAPED_IN_DOUBLE.sub(lambda escape: escape[1] or "", token["double"])
        case "escaped":
            return token["escaped"][1:]
        case _:
            return token[0]
