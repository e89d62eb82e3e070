"""Work in processes of its own.

``limited``            one thing in a forked process with limits of time and memory
``forked``             several things at a time, each in forked processes
``pool``               jobs for workers, and their results as they arrive
``local``              the workers are processes on this machine
``cluster``            the workers are those of a Dask cluster
``ignore_interrupts``  what workers import first, to leave Ctrl-C to the command
``interrupt``          Ctrl-C while a grade is written
"""
