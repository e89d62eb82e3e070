"""The files by which a grader and a probe talk: names in the exchange folder of a sandbox."""

REQUEST = "request.pickle"
RESULT = "result.safetensors"
ENDING = "ending.txt"
# An answer has its seconds in processor time. One that waits is stopped after so many times as long.
PATIENCE = 4
