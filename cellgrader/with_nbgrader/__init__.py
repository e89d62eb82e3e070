"""What is set up in nbgrader, and saved through it.

``lock``         one run at a time for a class
``save``         saves examinations to the gradebook
``preprocess``   the steps in which nbgrader saves a submission
``transaction``  one connection and one transaction for them
``formgrader``   what a person who grades by hand has beside an answer
``exchange``     nbgrader's exchange, for work that nobody has to trust
"""
