"""Whose a submission is.

``collected``       a submission: its members, the source of the work, and the attempt
``partners``        who hands in together
``shared_work``     whose folder holds it, and what each partner has of it
``shared_by_hand``  points by hand for one partner, and for the others
``attempts``        every new version is the next attempt
"""
