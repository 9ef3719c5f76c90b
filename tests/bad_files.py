"""All malformed files and folders in one form.

`BAD_FILES` lists (case, files, which of them is opened, piece of the message); of a folder, the folder is opened.
"""

from bad_matrices import BAD_CHALLENGES, BAD_MATRICES
from bad_tables import BAD_TABLES

BAD_FILES: list[tuple[str, dict[str, bytes], str, str]] = [
    *((case, {name: content}, name, piece) for case, name, content, piece in BAD_TABLES + BAD_MATRICES),
    *((f"challenge: {case}", files, "", piece) for case, files, piece in BAD_CHALLENGES),
]
