"""Examine one submission.

``examine``       mend it, run it confined, ask the probes, judge what they hand over
``kernels``       runs the notebook and each check's probe in sandboxed kernels
``outcome``       verdicts -> points, outputs, a status and a sentence
``systems``       whole systems: the file beside the notebook, and its measures
``hard_to_read``  what an instructor should look at
``worker``        what a worker keeps from one submission to the next
"""
