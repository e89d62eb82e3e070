"""A notebook as a document, which nobody has to trust.

``document``         reads and writes notebooks, lists exercises and points from nbgrader's metadata
``search``           finds the notebook in a submitted folder
``parse``            reads an untrusted file, within bounds
``cells``            the cells of a submission in a clean form
``slots``            the cells of a released notebook, each with the submitted cells that match it
``matching``         matches submitted cells with released ones, and chooses among duplicates
``lost_marks``       finds the cells that lost their marks in an editor
``mend``             rebuilds a clean notebook without losing an answer
``only_in_editors``  cells that do what exists in an editor, but not where work is graded
``shown_outputs``    the student's outputs of cells that grading does not run
``pictures``         pictures in texts: kept apart, and shown to whoever grades
``nodes``            changes one node of a source, and leaves all else as it was typed
"""
