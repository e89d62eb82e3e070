"""Pages: one file each, without scripts, without anything from elsewhere.

``feedback``  what failed, on which kind of input, and why
``report``    how an assignment went in a class
``frame``     the frame of the pages for instructors
``safe``      renders notebooks so that no student's code runs
``formulas``  TeX -> MathML
"""
