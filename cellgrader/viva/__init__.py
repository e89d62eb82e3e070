"""Questions about a student's own code, with computed answers: ``seqcourse viva ps6 ada``.

``kinds``          what can be changed in a line: an axis, a sign, an order, ...
``changes``        the changes of one answer, and its expressions that report their shapes
``tried``          reads a submission, runs the answers and their changes in the sandbox
``outcomes``       what the versions of an answer did, and what a change did to it
``questions``      the questions that this gives, each with four options
``numbers``        how numbers can be shown, and by what they were multiplied
``choose``         five of them, of the same kinds for everybody
``sheet``          the sheet of one student: all is run twice, and only what agrees is asked
``at_once``        the sheets of a class, on all cores
``handout``        the sheet as a notebook for one student, and how it is graded
``sheet_folders``  where the sheets of a class are
``page``           the student's page to print, and the instructor's with everybody's answers
``table``          the instructor's table with the answers
"""
