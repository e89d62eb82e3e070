"""What is said of a wrong answer.

``finding``         what a check found wrong, as data
``stages``          where, a question, the fix, what to read: one more at each try
``discreet``        name the mistake and shapes, never a hidden input or an expected value
``notebook_lines``  the line of the notebook that an error comes from, the cell that never ran
"""
