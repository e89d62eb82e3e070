"""The hidden checks at work: one half beside the student's code, one that it cannot reach.

``probe``       call the answer, beside the student's code
``verdict``     compare what the probe handed over, and say why
``versions``    requests to try an answer with one thing changed
``checkpoint``  read a checkpoint that a student hands in
``curve``       from the measure of a system to its share of the points
"""
