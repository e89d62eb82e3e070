"""One call of an answer: what it is given, what runs, what comes back and how that is judged.

``inputs``     random tensors, views that are not contiguous, copies
``kinds``      kinds of inputs that the hidden checks of every exercise hold
``values``     results as plain arrays by name
``payload``    such arrays as bytes, between the student's process and the grader
``libraries``  which files are a library's
``watch``      which functions run during a call, and which of them are the answer
``errors``     errors that a call raised
``margin``     how far results are from the right ones
``compare``    a result and the right one, and the mistake that explains the difference
``gradients``  the same for the gradients of a call
``recording``  a call recorded as plain arrays, and the recording judged
``modules``    the same for classes
``naming``     mistakes that explain several calls, sizes written into the code
``forbidden``  what an answer may not use
"""
