"""The grader's two error rates: right answers that are refused, wrong ones that are accepted.

forms       the inputs of a check in other dtypes, strides, and on a second device
trial       one answer to one exercise: judged, and how far its numbers are from the right ones
exercises   everything that is tried on one exercise, and the record of it
results     the records of all exercises in one file, and as a table
rule        where a tolerance has to lie between right and wrong answers
second      a second device without a GPU
"""
