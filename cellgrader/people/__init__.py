"""Who is in the class.

``enrolment``  people who come late, get more time, or leave
``leaving``    one of several partners leaves
``erase``      all that a class's folder holds of one student
``collect``    the files of a platform's archive -> submitted/
"""
