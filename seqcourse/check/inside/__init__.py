"""All that a sandbox sees of the exercises, one module for each assignment.

A module holds functions that answers are handed, such as a small decoder, to be bound to arrays with
`functools.partial`; and other ways to call an answer, named `record_...`. An answer may use what it is
handed. It may not import it from here: `seqcourse.check.calls.watch` refuses that, and tells
`record_...` by its name.
"""
