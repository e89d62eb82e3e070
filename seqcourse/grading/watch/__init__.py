"""Grade what arrives while a class works: ``seqcourse watch ps3``.

``places``    where the files of a watched assignment are
``day``       the attempts of a student, and how many of them a day allows
``counts``    which attempt counts: the last or the best
``arrivals``  submissions that have arrived: in the inbox, or through nbgrader's exchange
``pages``     what the student finds
``board``     what the instructor sees
``loop``      the watcher: from arrival to feedback, and on again after it was killed
"""
