"""The cards of the exercises: all that is said of one, in words, and its answers.

``card``      read a card: idea, section, fix, questions, excuses
``corpus``    its right and wrong answers
``listing``   its hidden checks
``mistakes``  mistakes as the wrong answers that make them
``shipped``   what a student's package holds of the cards
``load``      the checks of an assignment, from its cards
"""
