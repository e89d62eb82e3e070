"""What students get, and what tests it.

``generate``    solutions/ -> assignments/, reproducible byte for byte
``adapt``       an assignment as a class gives it
``reshape``     exercises that come or go after work was graded
``worked``      the worked answers, sealed
``assistants``  what a coding assistant reads in an assignment's folder
``sample``      a class of made-up students to test the grader with
"""
