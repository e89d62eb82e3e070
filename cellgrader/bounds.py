"""What one submission may cost outside the sandbox. Every limit is far above honest work.

Each is checked before what it limits is parsed. Whatever these numbers miss meets SECONDS and MEMORY:
the steps that read, judge and show a submission run in a process of their own
(`cellgrader.processes.limited`). What its code may use inside the sandbox is in
`cellgrader.sandbox.Limits`.
"""

from __future__ import annotations

MB, GIB = 1_000_000, 1 << 30

# The folder: bytes of a file and of all files, number of files and folders, folders within folders.
FILE, FOLDER = 256 << 20, 512 << 20
FILES = 10_000
DEPTH = 12
# The search for a notebook in it: entries looked at, nested folders, notebooks opened.
SEARCHED, SEARCHED_DEPTH, OPENED = 1_000, 3, 10

# The notebook: bytes, JSON values (each takes memory, however short its text), cells, characters of all
# sources, of one source, and of outputs that a cell keeps. TIME, SECRET: bytes of the two
# small files that nbgrader puts beside it; its secret has 128 digits.
NOTEBOOK = 100 * MB
VALUES = 3_000_000
CELLS = 2_000
SOURCES, SOURCE = 10 * MB, 1 * MB
OUTPUT = 1 * MB
TIME, SECRET = 200, 200
# The file with a student's appeals, in bytes.
APPEAL = 20_000

# What the sandbox sends: characters of output from one cell, after which its kernel is stopped.
SENT = 50 * MB
# A probe's result: bytes, arrays, bytes of one text, letters of all arrays of texts (each text is as
# wide as the longest of its array).
RESULT = 1 << 26
ARRAYS = 20_000
TEXT = 100_000
LETTERS = 4 * MB

# The pictures of one written answer: bytes as handed in, bytes on a page, and the pixels of a picture
# that is made smaller.
PICTURES, PICTURES_SHOWN = 20 * MB, 2 * MB
PIXELS = 100_000_000

# A page about it: characters of one text in Markdown and of all of them, of one cell of code.
MARKDOWN, ALL_MARKDOWN = 20_000, 200_000
CODE = 100_000
# What is compared with the work of others: characters of an answer, and of all of them.
COMPARED, ALL_COMPARED = 50_000, 200_000

# Reading, judging or showing it: seconds of processor time, bytes of memory.
SECONDS = 30
MEMORY = GIB
# The process that grades one submission after the other. It is replaced where it needs more.
WORKER = 4 * GIB
